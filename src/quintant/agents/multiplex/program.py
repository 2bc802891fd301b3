"""Runs a program on the fast loop until it is asked to end."""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import resource
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

from quintant.agents.loops import loop_factory

Work = Callable[[asyncio.Event], Awaitable[None]]
_TRY = "another port or address (--help names the options), or end the program that has it"
_NOT_AVAILABLE = (errno.EADDRINUSE, errno.EACCES, errno.EADDRNOTAVAIL)
_TRY_VOLUME = "mount a volume there, or name a path on one (--help names the options)"
_NOT_WRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)
"""In an image: its root is read-only, and belongs to somebody else."""
GARBAGE_OBJECTS = 10_000
"""How many more there are before cycles are looked for: a request makes dozens, and frees them."""

KEPT_BYTES = 2 * 1024 * 1024
"""The size of blocks up to which freed memory stays with the process, and twice of it in all."""


def run(work: Work, *, small: bool = False) -> None:
    """Do some work; its event is set by SIGTERM and SIGINT.

    A small program does without the fast loop, which is four megabytes.
    """
    _allow_files()
    gc.freeze()  # What was imported stays.
    gc.set_threshold(GARBAGE_OBJECTS)
    if not small:
        _keep_memory()
    with asyncio.Runner(loop_factory=None if small else loop_factory()) as runner:
        try:
            runner.run(_until_signalled(work))
        except (OSError, BaseExceptionGroup) as error:
            if not (explained := _explained(error)):
                raise
            sys.exit(explained)


def _explained(error: BaseException) -> str:
    """What a user reads of an address that is not to be had, or of a file; else nothing."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(_explained, error.exceptions)), "")
    if not isinstance(error, OSError):
        return ""
    if error.filename is not None and error.errno in _NOT_WRITABLE:
        return f"cannot write {error.filename}\nbecause: {error.strerror}\ntry: {_TRY_VOLUME}"
    if error.filename is None and error.errno in _NOT_AVAILABLE:
        return f"cannot listen\nbecause: {error.strerror}\ntry: {_TRY}"
    return ""


def say(what: str, **facts: object) -> None:
    """One line of the log: what happened, as JSON."""
    print(json.dumps({"event": what, **facts}), file=sys.stderr, flush=True)


def _keep_memory() -> None:
    """Let what a download needs be used again: otherwise each megabyte is hundreds of pages that
    the system takes back and clears. glibc keeps as much as the largest block that it was ever
    given back; others do as they like."""
    bytes(KEPT_BYTES)


def _allow_files() -> None:
    """Let the process have as many sockets as it may: each visitor is one, or two."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _until_signalled(work: Work) -> None:
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    await work(stopped)
