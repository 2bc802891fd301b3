"""A Transport whose server is the test, and words to speak as one.

Each request waits until the test takes it (`asked`) and answers it; nothing happens by itself:

    asked = await server.asked()
    asked.accept()
    asked.say(added(ship("a", "1")), bookmark("5", initial=True))
    await settle()
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core import codec
from quintant.core.errors import ConnectError, TransportError
from quintant.core.object import Object
from quintant.runtime.watch.watch_events import INITIAL_EVENTS_END


class Asked:
    """One request, from the server's side."""

    def __init__(self, call: ApiRequest) -> None:
        self.call = call
        self.closed = False
        """Whether the client has let go of it."""
        self.endless = False
        self.cancelled = False
        """Whether the client let go of it before there was an answer."""
        self.reply: asyncio.Future[ApiResponse] = asyncio.get_running_loop().create_future()
        self._chunks: asyncio.Queue[bytes | TransportError | None] = asyncio.Queue()

    @property
    def query(self) -> dict[str, str]:
        return dict(self.call.query)

    @property
    def body(self) -> Any:
        return msgspec.json.decode(self.call.body or b"null")

    def answer(self, body: Any = b"", status: int = 200, **headers: str) -> None:
        """Answer with a body: bytes, an object, or plain data."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.reply.set_result(ApiResponse(status, _bytes(body), named))

    def fail(self, code: int, message: str = "", reason: str = "", **headers: str) -> None:
        """Answer with a Status document."""
        self.answer({"kind": "Status", "message": message, "reason": reason}, code, **headers)

    def trickle(self, status: int, body: bytes) -> None:
        """Answer a stream with a body that does not come to its end."""
        self._chunks.put_nowait(body)
        self.endless = True
        self.answer(b"", status)

    def refuse(self) -> None:
        """Break the connection instead of answering."""
        self.reply.set_exception(ConnectError("refused"))

    def accept(self) -> None:
        """Open a stream."""
        self.answer()

    def say(self, *lines: bytes) -> None:
        """Send lines on an open stream, in one piece."""
        self._chunks.put_nowait(b"".join(line + b"\n" for line in lines))

    def end(self) -> None:
        """End an open stream as a server does whose time limit is reached."""
        self._chunks.put_nowait(None)

    def cut(self) -> None:
        """Break an open stream."""
        self._chunks.put_nowait(ConnectError("cut"))

    async def chunks(self) -> AsyncIterator[bytes]:
        while (chunk := await self._chunks.get()) is not None:
            if isinstance(chunk, TransportError):
                raise chunk
            yield chunk


class ScriptedTransport:
    """A Transport that hands every request to the test."""

    def __init__(self) -> None:
        self.calls: list[ApiRequest] = []
        self.open = self.most_open = 0
        self._asked: asyncio.Queue[Asked] = asyncio.Queue()

    async def asked(self) -> Asked:
        """The next request, when it comes."""
        return await self._asked.get()

    def idle(self) -> bool:
        """Whether no request waits to be taken."""
        return self._asked.empty()

    async def request(self, call: ApiRequest) -> ApiResponse:
        if call.fence is not None:
            call.fence(call)
        async with self._opened(call) as asked:
            return await asked.reply

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        async with self._opened(call) as asked:
            reply = await asked.reply
            whole = reply.status != 200 and not asked.endless
            chunks = _once(reply.body) if whole else asked.chunks()
            yield ApiStream(reply.status, chunks, reply.headers)

    async def close(self) -> None:
        """Nothing to let go of."""

    @asynccontextmanager
    async def _opened(self, call: ApiRequest) -> AsyncIterator[Asked]:
        asked = Asked(call)
        self.calls.append(call)
        self._asked.put_nowait(asked)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            yield asked
        except asyncio.CancelledError:
            asked.cancelled = not asked.reply.done() or asked.reply.cancelled()
            raise
        finally:
            self.open -= 1
            asked.closed = True


def event(kind: str, obj: Any) -> bytes:
    """A line of a watch."""
    return b'{"type":"%s","object":%s}' % (kind.encode(), _bytes(obj))


def added(obj: Any) -> bytes:
    return event("ADDED", obj)


def modified(obj: Any) -> bytes:
    return event("MODIFIED", obj)


def deleted(obj: Any) -> bytes:
    return event("DELETED", obj)


def bookmark(version: str, *, initial: bool = False) -> bytes:
    annotations = {INITIAL_EVENTS_END: "true"} if initial else {}
    return event("BOOKMARK", {"metadata": {"resourceVersion": version, "annotations": annotations}})


def error(code: int, message: str = "") -> bytes:
    return event("ERROR", {"kind": "Status", "code": code, "message": message})


def page(*objects: Object, version: str = "1", more: str = "") -> bytes:
    """A list answer."""
    head = msgspec.json.encode({"resourceVersion": version, "continue": more})
    items = b",".join(codec.encode_object(obj) for obj in objects)
    return b'{"metadata":%s,"items":[%s]}' % (head, items)


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return codec.encode_object(value) if isinstance(value, Object) else codec.encode(value)


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
