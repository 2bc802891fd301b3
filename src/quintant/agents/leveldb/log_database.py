"""A small database that is written: all of it is in one log, which is made anew before it is long.

What it writes is LevelDB's format, and other programs may read it meanwhile; it is for few keys
that change often. It does not wait for the disk: after a crash of the machine the last may be lost.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from quintant.agents.leveldb.log_file import encode_record
from quintant.agents.leveldb.manifest import encode_manifest_edit
from quintant.agents.leveldb.write_batch import encode_batch

MOST_LOG_BYTES = 256 * 1024


class LogDatabase:
    """Keys and values in a folder."""

    def __init__(self, folder: Path, values: dict[bytes, bytes]) -> None:
        self._folder, self._values = folder, dict(values)
        self._sequence, self._size = 1, 0
        self._log: BinaryIO | None = None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "LOCK").touch()
        self._begin()

    def put(self, key: bytes, value: bytes) -> None:
        """Store a value."""
        self._values[key] = value
        self._append({key: value})
        if self._size > MOST_LOG_BYTES:
            self._begin()

    def close(self) -> None:
        """Write no more."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def _append(self, values: dict[bytes, bytes]) -> None:
        assert self._log is not None, "a closed database is not written to"
        record = encode_record(encode_batch(self._sequence, list(values.items())), self._size)
        self._log.write(record)
        self._log.flush()
        self._size += len(record)
        self._sequence += len(values)

    def _begin(self) -> None:
        """Write all values to a new log, then let the database begin with that."""
        self.close()
        known = [name for name in os.listdir(self._folder) if name.endswith(".log")]
        old = [name for name in os.listdir(self._folder) if name.startswith("MANIFEST-")]
        manifest = max((_number(name) for name in (*known, *old)), default=0) + 1
        self._log = (self._folder / f"{manifest + 1:06}.log").open("wb")
        self._size = 0
        self._append(self._values)
        edit = encode_manifest_edit(manifest + 1, manifest + 2, self._sequence)
        (self._folder / f"MANIFEST-{manifest:06}").write_bytes(encode_record(edit, 0))
        part = self._folder / "CURRENT.part"
        part.write_text(f"MANIFEST-{manifest:06}\n")
        os.replace(part, self._folder / "CURRENT")
        for name in (*known, *old):
            (self._folder / name).unlink(missing_ok=True)


def _number(name: str) -> int:
    return int(name.removeprefix("MANIFEST-").removesuffix(".log"))
