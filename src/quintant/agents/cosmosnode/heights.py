"""The height of a stopped node, from its databases: `application.db` of the SDK, else CometBFT's.

Databases of LevelDB are read; of others, and of what cannot be read for certain, nothing is told.
`priv_validator_state.json` proves nothing: on a full node it stays at 0.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from quintant.agents.leveldb.database import read_key
from quintant.agents.leveldb.errors import Unreadable
from quintant.wire.comet import HEIGHT_LIMIT
from quintant.wire.protobuf import Malformed, members, number_in

READABLE = ("", "goleveldb", "cleveldb")
"""The names that chains have for LevelDB."""


class _Source(NamedTuple):
    folder: str
    key: bytes
    field: int
    """Of the protobuf message that the key holds: the latest height."""


_SOURCES = (
    _Source("application.db", b"s/latest", 1),
    _Source("blockstore.db", b"blockStore", 2),
)


def stored_height(data: Path, backend: str = "") -> int | None:
    """The latest block that was executed, or else stored; None if the data do not tell."""
    if backend not in READABLE:
        return None
    for source in _SOURCES:
        folder = data / source.folder
        if not (folder / "CURRENT").is_file():
            continue
        try:
            value = read_key(folder, source.key)
            height = number_in(dict(members(value)), source.field) if value else 0
        except (Unreadable, Malformed) as error:
            print(f"no height from {source.folder}: {error}", flush=True)
            return None
        return height if 0 < height <= HEIGHT_LIMIT else None
    return None


def data_stamp(data: Path) -> int:
    """When a node last wrote to its databases, in nanoseconds; 0 without any."""
    return max(_written(data), default=0)


def _written(data: Path) -> Iterator[int]:
    for source in _SOURCES:
        try:
            with os.scandir(data / source.folder) as entries:
                yield from (entry.stat().st_mtime_ns for entry in entries)
        except OSError:
            continue
