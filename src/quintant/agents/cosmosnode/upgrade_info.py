"""upgrade-info.json, which an SDK node writes when it halts for an upgrade."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

NAME = "upgrade-info.json"
_MOST_BYTES = 1024 * 1024
"""It may hold a link to programs, and notes."""
_MOST_NAME = 253


class UpgradeFile(NamedTuple):
    """The upgrade that a node halted for."""

    height: int
    name: str


def read_upgrade(data: Path) -> UpgradeFile | None:
    """What the file says; None if there is none, or none that makes sense yet."""
    try:
        with (data / NAME).open("rb") as file:
            found = json.loads(file.read(_MOST_BYTES))
        height = int(found["height"])
        name = found.get("name", "")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return UpgradeFile(height, str(name)[:_MOST_NAME]) if height > 0 else None
