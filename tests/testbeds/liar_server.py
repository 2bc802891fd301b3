"""A server that lies: every connection gets the next lie of `testbeds.liars`, in its manner.

async with serving(lie(seed, truth) for seed in range(200)) as liar:
    ...                                   # talk to liar.url
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from testbeds.liars import Lie, Manner

_DRIP_SECONDS = 20.0
_PIECES = 8


@dataclass
class Liar:
    """A server that lies, and what it was asked."""

    port: int = 0
    scheme: str = "http"
    requests: list[bytes] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        """Its address."""
        return f"{self.scheme}://127.0.0.1:{self.port}"


@asynccontextmanager
async def serving(lies: Iterable[Lie], tls: ssl.SSLContext | None = None) -> AsyncIterator[Liar]:
    """A liar on this machine: each connection gets the next lie; after the last, none is taken."""
    liar, left = Liar(scheme="https" if tls else "http"), iter(lies)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        liar.tasks.add(task)
        task.add_done_callback(liar.tasks.discard)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            liar.requests.append(await reader.readuntil(b"\r\n\r\n"))
            if (answer := next(left, None)) is not None:
                await deliver(answer, writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    liar.port = server.sockets[0].getsockname()[1]
    try:
        yield liar
    finally:
        server.close()
        for task in liar.tasks:
            task.cancel()
        await asyncio.gather(*liar.tasks, return_exceptions=True)
        await server.wait_closed()


async def deliver(answer: Lie, writer: asyncio.StreamWriter) -> None:
    """Write a lie in its manner; one that stays silent ends with the connection or the task."""
    message = answer.message
    match answer.manner:
        case Manner.WHOLE:
            writer.write(message)
            await writer.drain()
        case Manner.SLOW:
            size = max(1, len(message) // _PIECES)
            for at in range(0, len(message), size):
                writer.write(message[at : at + size])
                await writer.drain()
                await asyncio.sleep(_DRIP_SECONDS)
        case Manner.SILENT:
            await asyncio.Event().wait()
        case Manner.HALF_CLOSED:
            writer.write(message[: len(message) // 2])
            if writer.can_write_eof():
                writer.write_eof()
                await asyncio.Event().wait()
        case Manner.RESET:
            writer.write(message[: len(message) // 2])
            writer.transport.abort()
