"""A TCP proxy to put between a client and a real API server, with a hand on the line.

Bytes pass as they are, TLS and all, so the client sees the server's own certificate. `stall` leaves
every connection open and silent, old and new; `silence` those that are open for ever, as a firewall
does that forgot them; `cut` resets those that are open; `refuse` turns new ones away. `resume`
undoes `stall` and `refuse`.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

PIECE_BYTES = 64 * 1024
# SO_LINGER on, for no time at all: closing the socket sends a reset.
NO_GOODBYE = struct.pack("ii", 1, 0)


class Proxy:
    """A listening proxy; `port` is where, `accepted` counts the connections it let in."""

    def __init__(self, host: str, port: int) -> None:
        self._server = host, port
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._refusing = False
        self._lines: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._silent: set[asyncio.Task[None]] = set()
        self.port = 0
        self.accepted = 0

    @classmethod
    @asynccontextmanager
    async def before(cls, host: str, port: int) -> AsyncIterator[Self]:
        """A proxy before a server, on a port of its own on loopback, as long as the context."""
        proxy = cls(host, port)
        listener = await asyncio.start_server(proxy._accept, "127.0.0.1", 0)
        proxy.port = listener.sockets[0].getsockname()[1]
        async with listener:
            try:
                yield proxy
            finally:
                await proxy._hang_up()

    @property
    def open(self) -> int:
        """How many connections pass through now."""
        return len(self._lines)

    def stall(self) -> None:
        """Let nothing through, in either direction, and close nothing."""
        self._flowing.clear()

    def silence(self) -> int:
        """Let nothing through the open connections any more; new ones work. Returns how many."""
        self._silent |= self._lines.keys()
        return len(self._lines)

    def refuse(self) -> None:
        """Reset connections as soon as they are made; leave the others alone."""
        self._refusing = True

    def resume(self) -> None:
        """Let everything through again, what was held first."""
        self._refusing = False
        self._flowing.set()

    def cut(self) -> int:
        """Reset every open connection; returns how many."""
        for writer in self._lines.values():
            _reset(writer)
        return len(self._lines)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            _reset(writer)
            return
        task = asyncio.current_task()
        assert task is not None
        self._lines[task] = writer
        self.accepted += 1
        whole = False
        try:
            there, back = await self._dial()
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pour(task, reader, back))
                    group.create_task(self._pour(task, there, writer))
                whole = True
            finally:
                _end(back, whole)
        except* (OSError, asyncio.CancelledError):
            pass  # a reset on one side becomes one on the other
        finally:
            del self._lines[task]
            self._silent.discard(task)
            _end(writer, whole)

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        await self._flowing.wait()
        return await asyncio.open_connection(*self._server)

    async def _pour(
        self, line: asyncio.Task[None], source: asyncio.StreamReader, sink: asyncio.StreamWriter
    ) -> None:
        while piece := await source.read(PIECE_BYTES):
            await self._leave(line)
            sink.write(piece)
            await sink.drain()
        await self._leave(line)
        sink.write_eof()

    async def _leave(self, line: asyncio.Task[None]) -> None:
        """Wait until something may pass through a line: never, for one that was silenced."""
        await self._flowing.wait()
        if line in self._silent:
            await asyncio.Future()

    async def _hang_up(self) -> None:
        tasks = list(self._lines)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def _end(writer: asyncio.StreamWriter, whole: bool) -> None:
    if whole:
        writer.close()
    else:
        _reset(writer)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with a reset instead of a goodbye, as a machine does that restarts."""
    made: socket.socket = writer.get_extra_info("socket")
    if made.fileno() >= 0:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_GOODBYE)
    writer.transport.abort()
