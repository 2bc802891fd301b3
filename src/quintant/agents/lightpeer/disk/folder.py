"""The disk: names, bytes, and writes that are whole or not there.

`Folder` is a directory. A file is written beside, synced, renamed, and the directory is synced
once after all of them; so after a crash each file is the old one or the new one, and what was
acknowledged is there. Many files are synced together, with their file system: one by one, a chain
of thousands of blocks would take a busy disk half a minute. Calls block: `Worker` runs them
elsewhere, one at a time.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from errno import EFBIG
from pathlib import Path
from typing import Protocol, TypeVar

T = TypeVar("T")

Files = Sequence[tuple[str, bytes]]
FILE_BYTES = 8_000_000
"""No file of ours is longer: the longest block in base64, with room. Others are not read."""
MANY = 16
"""From so many files on, their file system is synced instead of each."""
_PART = ".part"
"""How a file ends that is not complete; a leading dot keeps it apart from blocks."""


class Disk(Protocol):
    """Where files are kept, by plain names. Failures are OSErrors."""

    def names(self) -> list[tuple[str, float]]:
        """Every file, and when it was written."""

    def read(self, name: str) -> bytes:
        """What a file holds; FileNotFoundError if there is none."""

    def write(self, files: Files) -> None:
        """Write files, in order; they are on the disk when this returns."""

    def append(self, name: str, content: bytes, at: int) -> None:
        """Have a file go on with something from a place on; the disk has it when this returns."""

    def rename(self, old: str, new: str) -> None:
        """Give a file another name."""

    def remove(self, names: Iterable[str]) -> None:
        """Have no such files."""


class Worker(Protocol):
    """Runs what blocks, in the order it was given."""

    async def __call__(self, work: Callable[[], T], /) -> T:
        """The outcome of some work."""


class Folder:
    """A directory of a real disk; it is made if it is not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def names(self) -> list[tuple[str, float]]:
        with os.scandir(self.path) as entries:
            return [
                (each.name, each.stat().st_mtime)
                for each in entries
                if each.is_file() and not each.name.startswith(".")
            ]

    def read(self, name: str) -> bytes:
        with (self.path / name).open("rb") as file:
            content = file.read(FILE_BYTES + 1)
        if len(content) > FILE_BYTES:
            raise OSError(EFBIG, "longer than any block")
        return content

    def write(self, files: Files) -> None:
        whole = dict(files)
        together = _SYNCFS is not None and len(whole) >= MANY
        for name, content in whole.items():
            _write(self._part(name), content, sync=not together)
        if together:
            _sync(self.path, _syncfs)
        for name in whole:
            self._part(name).replace(self.path / name)
        _sync(self.path)

    def append(self, name: str, content: bytes, at: int) -> None:
        _write(self.path / name, content, at)
        if not at:
            _sync(self.path)

    def rename(self, old: str, new: str) -> None:
        (self.path / old).replace(self.path / new)
        _sync(self.path)

    def _part(self, name: str) -> Path:
        return self.path / f".{name}{_PART}"

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            (self.path / name).unlink(missing_ok=True)
        _sync(self.path)


class Thread:
    """A worker with one thread of its own."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "disk")

    async def __call__(self, work: Callable[[], T], /) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Wait for what was begun, and end the thread."""
        self._pool.shutdown()


def _write(path: Path, content: bytes, at: int = 0, *, sync: bool = True) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        os.ftruncate(descriptor, at)
        os.lseek(descriptor, at, os.SEEK_SET)
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync(path: Path, how: Callable[[int], object] = os.fsync) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        how(descriptor)
    finally:
        os.close(descriptor)


# Linux has it, and Python does not.
_SYNCFS = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)


def _syncfs(descriptor: int) -> None:
    if _SYNCFS is not None and _SYNCFS(descriptor):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
