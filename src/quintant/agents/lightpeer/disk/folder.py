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
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

from quintant.agents.lightpeer.chain.block import ASIDE

T = TypeVar("T")

Files = Sequence[tuple[str, bytes]]
MANY = 16
"""From so many files on, their file system is synced instead of each."""
LINE_BYTES = 16_000_000
"""No line of ours is longer: three times the longest block. A longer one comes in pieces."""
_PART = ".part"
"""How a file ends that is not complete; a leading dot keeps it apart from blocks."""


class Disk(Protocol):
    """Where files are kept, by plain names. Failures are OSErrors."""

    def names(self) -> list[tuple[str, float]]:
        """Every file, and when it was written."""

    def beginning(self, prefix: str) -> list[str]:
        """The names that begin so."""

    def read(self, name: str, at: int = 0, most: int = -1) -> bytes:
        """What a file holds from a place on; FileNotFoundError if there is none."""

    def lines(self, name: str) -> Iterator[bytes]:
        """What a file holds, line by line, each with its end; nothing if there is none."""

    def write(self, files: Files) -> None:
        """Write files, in order; they are on the disk when this returns."""

    def rewrite(self, name: str, pieces: Iterable[bytes]) -> None:
        """Write one file of any length; it is on the disk when this returns."""

    def append(self, name: str, content: bytes, at: int) -> None:
        """Continue a file with something from an offset on; the disk has it when this returns."""

    def set_aside(self, name: str) -> None:
        """Keep a file as it is now among the damaged ones, and under its name, too."""

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

    def beginning(self, prefix: str) -> list[str]:
        return [each for each in os.listdir(self.path) if each.startswith(prefix)]

    def read(self, name: str, at: int = 0, most: int = -1) -> bytes:
        with (self.path / name).open("rb", buffering=0 if most >= 0 else -1) as file:
            file.seek(at)
            return file.read(most)

    def lines(self, name: str) -> Iterator[bytes]:
        try:
            file = (self.path / name).open("rb", buffering=1 << 20)
        except FileNotFoundError:
            return
        with file:
            while line := file.readline(LINE_BYTES):
                yield line

    def write(self, files: Files) -> None:
        whole = dict(files)
        together = _SYNCFS is not None and len(whole) >= MANY
        for name, content in whole.items():
            _write(self._part(name), [content], sync=not together)
        if together:
            _sync(self.path, _syncfs)
        for name in whole:
            self._part(name).replace(self.path / name)
        _sync(self.path)

    def rewrite(self, name: str, pieces: Iterable[bytes]) -> None:
        _write(self._part(name), pieces)
        self._part(name).replace(self.path / name)
        _sync(self.path)

    def append(self, name: str, content: bytes, at: int) -> None:
        _write(self.path / name, [content], at)
        if not at:
            _sync(self.path)

    def set_aside(self, name: str) -> None:
        aside = self.path / ASIDE
        aside.mkdir(exist_ok=True)
        source = self.path / name
        target = next(
            path
            for number in range(10**6)
            if not (path := aside / (f"{name}.{number}" if number else name)).exists()
            or _alike(path, source)
        )
        if not target.exists():
            part = aside / f".{name}{_PART}"
            shutil.copy2(source, part)
            _sync(part, flags=os.O_RDONLY)
            part.replace(target)
            _sync(aside)
            _sync(self.path)

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            (self.path / name).unlink(missing_ok=True)
        _sync(self.path)

    def _part(self, name: str) -> Path:
        return self.path / f".{name}{_PART}"


class Thread:
    """A worker with one thread of its own."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "disk")

    async def __call__(self, work: Callable[[], T], /) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Wait for what was begun, and end the thread."""
        self._pool.shutdown()


def _write(path: Path, pieces: Iterable[bytes], at: int = 0, *, sync: bool = True) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        os.ftruncate(descriptor, at)
        os.lseek(descriptor, at, os.SEEK_SET)
        for content in pieces:
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync(
    path: Path, how: Callable[[int], object] = os.fsync, flags: int = os.O_RDONLY | os.O_DIRECTORY
) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        how(descriptor)
    finally:
        os.close(descriptor)


def _alike(one: Path, two: Path) -> bool:
    """Whether two files are the same, byte by byte."""
    with one.open("rb") as first, two.open("rb") as second:
        while first_piece := first.read(1 << 20):
            if first_piece != second.read(len(first_piece)):
                return False
        return not second.read(1)


# Linux has it, and Python does not.
_SYNCFS = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)


def _syncfs(descriptor: int) -> None:
    if _SYNCFS is not None and _SYNCFS(descriptor):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
