"""One request after another: from a socket to a handler, and its answer back.

A handler gets a `Question` and gives an `Answer`, or a `Flow` that goes on. It is cancelled when
its client leaves. A request that cannot be read ends its connection: nobody knows where the next
one would begin.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from ssl import SSLContext
from typing import Any

from quintant.http.body import LAST_CHUNK, chunk
from quintant.http.connection import Connection, Gone
from quintant.http.connections import Clients
from quintant.http.head import Refused
from quintant.http.request import Limits, Question, linger, next_question
from quintant.http.response import Answer, Flow, refusal

BACKLOG = 1024
"""Connections that may wait to be accepted: a whole fleet comes back at once."""
GOODBYE_SECONDS = 1.0
"""For answers under way when a server stops."""

Handler = Callable[[Question], Awaitable[Answer | Flow]]
_log = logging.getLogger(__name__)


@asynccontextmanager
async def serving(
    handler: Handler,
    host: str,
    port: int,
    ssl: SSLContext | None = None,
    *,
    limits: Limits = Limits(),
    goodbye: float = GOODBYE_SECONDS,
) -> AsyncIterator[tuple[str, int]]:
    """Serve while the context lasts; yields where. OSError if that cannot be had.

    No host is every address of this machine, port 0 any free port. Answers under way when the
    context is left have `goodbye` seconds to end.
    """
    server = Server(handler, limits)
    listening = await asyncio.get_running_loop().create_server(
        partial(Connection, server.arrive),
        host or None,
        port,
        backlog=BACKLOG,
        **_secured(ssl, limits),
    )
    try:
        yield listening.sockets[0].getsockname()[:2]
    finally:
        listening.close()
        await server.stop(goodbye)


class Server:
    """Serves connections, wherever they come from."""

    def __init__(self, handler: Handler, limits: Limits) -> None:
        self._handler, self._limits = handler, limits
        self._clients = Clients(_failed)
        self._stopping = False

    def arrive(self, connection: Connection) -> asyncio.Task[None]:
        """Serve a connection in a task of its own."""
        return self._clients.serve(connection, self._serve(connection))

    async def stop(self, goodbye: float) -> None:
        """End every connection, and wait so many seconds for answers under way."""
        self._stopping = True
        self._clients.dismiss()
        await self._clients.gone(goodbye)
        await self._clients.close()

    async def _serve(self, connection: Connection) -> None:
        try:
            first = True
            while await self._one(connection, first):
                first = False
                if connection.buffer:
                    # Who sends many requests at once is not served all at once.
                    await asyncio.sleep(0)
        except Refused as refused:
            await self._refuse(connection, refused)
        except Gone:
            return

    async def _one(self, connection: Connection, first: bool) -> bool:
        """Answer one request; whether there may be another."""
        question = await next_question(connection, self._limits, first)
        if question is None:
            return False
        answer = await self._answer(question)
        if isinstance(answer, Flow):
            return await self._flow(question, answer)
        close = self._last(question)
        await connection.write(answer.raw(close, question.method == "HEAD"))
        if not question.whole:
            await linger(connection, self._limits.linger_seconds)
        return not close

    async def _answer(self, question: Question) -> Answer | Flow:
        try:
            return await self._handler(question)
        except (Gone, Refused):
            raise
        except Exception:
            # Whatever is wrong with one handler, the server has other clients.
            _log.exception("no answer to %s %s", question.method, question.path)
            return refusal(500, "")

    async def _flow(self, question: Question, flow: Flow) -> bool:
        """Send an answer that goes on; whether there may be another request."""
        connection, unsized = question.connection, flow.size is None
        chunked = unsized and question.head.minor > 0
        close = self._last(question) or (unsized and not chunked)
        try:
            connection.send(flow.raw(chunked, close))
            if question.method != "HEAD":
                await _pour(connection, flow, chunked)
        finally:
            flow.over()
        return not close

    def _last(self, question: Question) -> bool:
        """Whether its connection ends with the answer to a question."""
        return self._stopping or not question.whole or not question.persistent

    async def _refuse(self, connection: Connection, refused: Refused) -> None:
        try:
            await connection.write(refusal(refused.status, str(refused)).raw(close=True))
            await linger(connection, self._limits.linger_seconds)
        except Gone:
            return


async def _pour(connection: Connection, flow: Flow, chunked: bool) -> None:
    async with aclosing(flow.pieces) as pieces:
        async for piece in pieces:
            if piece:
                connection.send(chunk(piece) if chunked else piece)
                if connection.full:
                    await _room(connection, flow.patience)
    if chunked:
        connection.send(LAST_CHUNK)


async def _room(connection: Connection, patience: float) -> None:
    """Wait for a client to read what it was sent; cut it off if it does not."""
    try:
        with connection.deadline.within(patience):
            await connection.drained()
    except TimeoutError:
        connection.reset()
        raise Gone from None


def _failed(error: BaseException) -> None:
    _log.error("a connection failed", exc_info=error)


def _secured(ssl: SSLContext | None, limits: Limits) -> dict[str, Any]:
    """What is said of TLS; nothing may be said of its times without it."""
    if ssl is None:
        return {}
    return {
        "ssl": ssl,
        "ssl_handshake_timeout": limits.head_seconds,
        "ssl_shutdown_timeout": GOODBYE_SECONDS,
    }
