"""A pipe or terminal of a Container: read when wanted, written as fast as the other end reads.

Nothing is read ahead: what is not asked for waits in the kernel, and so does who wrote it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

READ_BYTES = 32 * 1024
"""At once: what fits into one message of a session."""


class FdStream:
    """One file descriptor, with at most one reader and one writer at a time; it owns it."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd, self._loop = fd, asyncio.get_running_loop()
        self._waiting: set[asyncio.Future[None]] = set()
        self._patience: float | None = None
        self.closed: bool = False

    def fileno(self) -> int:
        """The descriptor; OSError if it is closed."""
        if self.closed:
            raise OSError("closed")
        return self._fd

    async def read(self) -> bytes:
        """What came, at least one byte; nothing at the end."""
        while not self.closed:
            try:
                return os.read(self._fd, READ_BYTES)
            except BlockingIOError:
                try:
                    async with asyncio.timeout(self._patience):
                        await self._ready(self._loop.add_reader, self._loop.remove_reader)
                except TimeoutError:
                    return b""
            except OSError:  # of a terminal that no program has open any more
                return b""
        return b""

    async def write(self, data: bytes) -> None:
        """Write all of it; what no reader will ever take is dropped."""
        rest = memoryview(data)
        while rest and not self.closed:
            try:
                rest = rest[os.write(self._fd, rest) :]
            except BlockingIOError:
                await self._ready(self._loop.add_writer, self._loop.remove_writer)
            except OSError:
                return

    def expire(self, seconds: float) -> None:
        """Take it for the end if nothing comes for so long: its program is gone."""
        self._patience = seconds
        for each in self._waiting:
            _wake(each)

    def close(self) -> None:
        """Let go of it; whoever waits goes on."""
        if self.closed:
            return
        self.closed = True
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        for each in self._waiting:
            _wake(each)
        os.close(self._fd)

    async def _ready(self, add: Callable[..., object], remove: Callable[[int], object]) -> None:
        """Wait until the kernel has something, or room."""
        waiting: asyncio.Future[None] = self._loop.create_future()
        self._waiting.add(waiting)
        add(self._fd, _wake, waiting)
        try:
            await waiting
        finally:
            self._waiting.discard(waiting)
            if not self.closed:
                remove(self._fd)


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
