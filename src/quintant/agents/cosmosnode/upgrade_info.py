"""upgrade-info.json, which an SDK node writes when it halts for an upgrade."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from quintant.wire.comet import MalformedStatus, decode_answer, whole_number

NAME = "upgrade-info.json"
_MOST_BYTES = 1024 * 1024
"""It may hold a link to programs, and notes."""
_MOST_NAME = 253


class UpgradeFile(NamedTuple):
    """The upgrade that a node halted for."""

    height: int
    name: str


class _File(msgspec.Struct):
    height: int | str
    name: str = ""


def read_upgrade(data: Path) -> UpgradeFile | None:
    """What the file says; None if there is none, or none that makes sense yet."""
    try:
        with (data / NAME).open("rb") as file:
            found = decode_answer(file.read(_MOST_BYTES), _File)
        height = whole_number(found.height, "height")
    except (OSError, MalformedStatus):
        return None
    return UpgradeFile(height, found.name[:_MOST_NAME]) if height else None
