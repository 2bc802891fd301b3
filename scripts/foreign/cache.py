"""The cache: what is fetched or built once per machine, outside every repository.

One process makes a thing at a time, others wait for it. What is made appears under its name by a
rename, when it is whole: whoever finds it there may use it.
"""

import fcntl
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from foreign.commands import PROGRESS_SECONDS
from foreign.errors import Report

_LOCK_POLL_SECONDS = 0.2


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the cache; it need not exist yet."""
    if own := environ.get("QUINTANT_CACHE"):
        return Path(own)
    if shared := environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "quintant"
    return Path(environ.get("HOME") or Path.home()) / ".cache" / "quintant"


@contextmanager
def locked(folder: Path, report: Report) -> Iterator[int]:
    """Hold the lock of a folder; the kernel releases it when its holder ends, however it ends.

    A program that inherits the descriptor holds it, too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        started = reported = time.monotonic()
        while not _taken(lock):
            time.sleep(_LOCK_POLL_SECONDS)
            if (now := time.monotonic()) - reported >= PROGRESS_SECONDS:
                report(f"waiting for another process to build: {now - started:.0f} s")
                reported = now
        yield lock.fileno()


@contextmanager
def workshop(folder: Path) -> Iterator[Path]:
    """Lend an empty folder in the cache, so that a rename out of it stays on one file system."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _taken(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
