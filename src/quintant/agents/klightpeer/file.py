"""The state file itself: read whole, replaced whole, its owner and mode kept.

A reader of the file sees the old content or the new one, never a part: it is written beside and
renamed. Only where a file cannot be renamed over, because it is mounted alone, is it written over.
"""

from __future__ import annotations

import os
from contextlib import suppress
from errno import EBUSY, EXDEV
from pathlib import Path
from typing import Protocol

from quintant.agents.lightpeer.chain.block import PAYLOAD_BYTES

Stamp = tuple[int, int, int]
"""What changes when a program writes a file: time, size, and which file it is."""


class StateFileAccess(Protocol):
    """A file that may not be there. Calls block; failures are OSErrors."""

    def stamp(self) -> Stamp | None:
        """Changes with the file; None if there is none."""

    def read(self) -> bytes | None:
        """What the file holds, up to one byte more than can be sent; None if there is none."""

    def write(self, content: bytes) -> None:
        """Have the file hold something; it is made if there is none."""


class PathFile:
    """A file of a real disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def stamp(self) -> Stamp | None:
        with suppress(FileNotFoundError):
            found = self.path.stat()
            return found.st_mtime_ns, found.st_size, found.st_ino
        return None

    def read(self) -> bytes | None:
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            return file.read(PAYLOAD_BYTES + 1)
        return None

    def write(self, content: bytes) -> None:
        part = self.path.with_name(f".{self.path.name}.part")
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            self._resemble(file.fileno())
            os.fsync(file.fileno())
        try:
            part.replace(self.path)
        except OSError as error:
            part.unlink()
            if error.errno not in (EBUSY, EXDEV):
                raise
            self.path.write_bytes(content)

    def _resemble(self, descriptor: int) -> None:
        """Give a new file the owner and mode of the old one, as far as we may."""
        with suppress(FileNotFoundError):
            old = self.path.stat()
            with suppress(PermissionError):
                os.fchown(descriptor, old.st_uid, old.st_gid)
            os.fchmod(descriptor, old.st_mode & 0o7777)
            return
        os.fchmod(descriptor, 0o644)
