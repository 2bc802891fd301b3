"""One request and its response, over one stream to one tunnel.

    SENT --first byte--> ANSWERING --head--> STREAMING --all of it--> WHOLE
      \\--reset, lost, closed--> failed: may be tried again, elsewhere, by the rules of `retry`

Bodies are passed on as they come, in both directions at once. What fails before the first byte of
an answer is told to the caller; what fails later cuts the visitor's connection, so that a broken
body never looks like a whole one.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import Enum

from quintant.agents.multiplex.duplex import DuplexStream, StreamReset
from quintant.agents.relay.visitor.fields import VIA, pass_trailers, to_visitor
from quintant.agents.relay.visitor.upload import Upload, UploadLimits, stopped
from quintant.agents.relay.visitor.visitor import Visitor
from quintant.http.body import BodyParser, encode_chunk, encode_end
from quintant.http.deadline import Deadline
from quintant.http.framing import Framing, FramingKind, response_framing
from quintant.http.head import (
    ProtocolError,
    RequestHead,
    ResponseHead,
    head_length,
    parse_response_head,
    upgrade_protocol,
)

FIRST_BYTE_SECONDS = 60.0
IDLE_SECONDS = 3600.0
"""A body or an upgraded connection on which nothing moves for so long is given up."""
ANSWER_HEAD_BYTES = 64 * 1024


class ExchangeState(Enum):
    """How far an exchange is."""

    SENT = "nothing came back yet"
    ANSWERING = "a head is coming"
    STREAMING = "the visitor gets the answer"
    WHOLE = "all of it was passed on"


# Python 3.11 calls a function for each `ExchangeState.SENT`, of which a request has a dozen.
_SENT, _ANSWERING, _STREAMING, _WHOLE = ExchangeState
_CHUNKED, _CLOSE = FramingKind.CHUNKED, FramingKind.CLOSE


class ExchangeFailed(Exception):
    """Nothing of an answer was passed on: code of the RST, 0 for a lost tunnel, or one below."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


ENDED, BAD, LATE = -1, -2, -3
"""The Service ended the connection; answered what is no HTTP; did not answer in time."""


class ResponseCut(Exception):
    """The answer broke off while it was passed on.

    `unframed`: its end would be the end of the connection, so that must not look like one.
    """

    def __init__(self, text: str, unframed: bool = False) -> None:
        super().__init__(text)
        self.unframed = unframed


@dataclass(frozen=True, slots=True)
class ExchangeLimits:
    """How long things may take, and how large they may be."""

    first_byte: float = FIRST_BYTE_SECONDS
    idle: float = IDLE_SECONDS
    upload: UploadLimits = field(default_factory=UploadLimits)


class Exchange:
    """One attempt: the request is written to `duplex`, the response to `visitor`."""

    def __init__(
        self,
        head: RequestHead,
        visitor: Visitor,
        duplex: DuplexStream,
        limits: ExchangeLimits,
        *,
        via: bytes = VIA,
    ) -> None:
        self._head, self._visitor, self._duplex, self._limits = head, visitor, duplex, limits
        self._via = via
        """What the fields of an answer say that it came by."""
        self.state: ExchangeState = _SENT
        self._buffer = b""
        self._unframed = False
        self.status: int = 0
        self.first_byte: float = 0.0
        """When the head of the answer was here, on the loop's clock."""
        self.close: bool = head.minor == 0 or b"close" in head.connection
        """Whether the visitor's connection ends with this answer."""
        self.reusable: bool = False
        """Whether the stream may carry another request."""

    async def run(self, raw: bytes, upload: Upload | None) -> None:
        """Carry it. ExchangeFailed before the answer, ResponseCut within it."""
        try:
            await self._duplex.write(raw)
            if upload is None:
                await self._answer(None)
                return
            task = asyncio.get_running_loop().create_task(upload.run(self._duplex))
            try:
                await self._answer(upload)
            finally:
                await stopped(task)
        except StreamReset as broken:
            raise self._failure(broken.code, str(broken)) from None
        except ProtocolError as refused:
            raise self._failure(BAD, str(refused)) from None
        except TimeoutError:
            raise ResponseCut("nothing moved for too long", self._unframed) from None

    def _failure(self, code: int, text: str) -> ExchangeFailed | ResponseCut:
        streaming = self.state is _STREAMING
        return ResponseCut(text, self._unframed) if streaming else ExchangeFailed(code, text)

    async def _answer(self, upload: Upload | None) -> None:
        head = await self._awaited(upload)
        while 100 <= head.status < 200 and head.status != 101:
            if self._head.minor:
                await self._visitor.write(
                    to_visitor(head, _NONE, False, self._head.method, self._via)
                )
            head = await self._awaited(upload)
        self.status, self.first_byte = head.status, asyncio.get_running_loop().time()
        if upload is not None:
            upload.answered = True
        if head.status == 101:
            await self._upgrade(head)
        else:
            self.close = self.close or (upload is not None and not upload.done)
            await self._stream(head)
            self.reusable = self._may_reuse(head, upload)

    def _may_reuse(self, head: ResponseHead, upload: Upload | None) -> bool:
        whole = self.state is _WHOLE and not self._buffer
        sent = upload is None or upload.done
        return whole and sent and head.minor == 1 and b"close" not in head.connection

    async def _awaited(self, upload: Upload | None) -> ResponseHead:
        """The next head. The clock begins anew whenever the visitor sends more of the body."""
        while True:
            seen = upload.progress if upload else 0
            try:
                with self._visitor.deadline.within(self._limits.first_byte):
                    return await self._response()
            except TimeoutError:
                if upload is None or upload.progress == seen:
                    raise ExchangeFailed(LATE, "no answer in time") from None

    async def _response(self) -> ResponseHead:
        while not self._buffer or not (at := head_length(self._buffer, ANSWER_HEAD_BYTES)):
            raw = await self._duplex.read()
            if not raw:
                raise ExchangeFailed(ENDED, "the Service closed the connection")
            self.state = _ANSWERING
            self._buffer += raw
        raw, self._buffer = self._buffer[:at], self._buffer[at:]
        return parse_response_head(raw)

    async def _stream(self, head: ResponseHead) -> None:
        framing = response_framing(head, self._head.method)
        outward = self._outward(framing)
        self._unframed = outward.kind is _CLOSE
        self.close = self.close or self._unframed
        start = to_visitor(head, outward, self.close, self._head.method, self._via)
        body, chunked = BodyParser(framing), outward.kind is _CHUNKED
        self.state = _STREAMING
        raw, self._buffer = self._buffer, b""
        content = body.feed(raw) if raw else b""
        self._visitor.send(start + _chunks(content, body) if chunked else start + content)
        if self._visitor.full or not body.done:
            await self._rest(body, chunked)
        self._buffer = body.rest
        self.state = _WHOLE

    async def _rest(self, body: BodyParser, chunked: bool) -> None:
        """What did not come with the head."""
        with self._visitor.deadline.within(self._limits.idle) as idle:
            await self._visitor.drained()
            while not body.done:
                piece = await self._duplex.read()
                idle.move(self._limits.idle)
                content: bytes | memoryview = body.feed(piece) if piece else b""
                if not piece and not body.end():
                    raise ResponseCut("the Service ended within its answer", self._unframed)
                await self._visitor.write(_chunks(content, body) if chunked else content)

    def _outward(self, framing: Framing) -> Framing:
        """How the visitor gets the body: HTTP/1.0 knows no chunks."""
        if framing.kind is _CLOSE and self._head.minor:
            return Framing(_CHUNKED)
        if framing.kind is _CHUNKED and not self._head.minor:
            return Framing(_CLOSE)
        return framing

    async def _upgrade(self, head: ResponseHead) -> None:
        """From here on both sides speak whatever they agreed on."""
        if not upgrade_protocol(self._head) or not upgrade_protocol(head):
            raise ExchangeFailed(BAD, "an upgrade that nobody asked for")
        self.state, self.close, self._visitor.upgraded = _STREAMING, True, True
        start = to_visitor(head, _NONE, False, self._head.method, self._via)
        await self._visitor.write(start + self._buffer)
        with self._visitor.deadline.within(self._limits.idle) as idle:
            back = asyncio.get_running_loop().create_task(self._outbound(idle))
            try:
                while raw := await self._duplex.read():
                    idle.move(self._limits.idle)
                    await self._visitor.write(raw)
            finally:
                await stopped(back)
        self.state = _WHOLE

    async def _outbound(self, idle: Deadline) -> None:
        try:
            while raw := await self._visitor.read():
                idle.move(self._limits.idle)
                await self._duplex.write(raw)
        except StreamReset:
            return  # Whoever reads is told as well.
        self._duplex.finish()


_NONE = Framing(FramingKind.NONE)


def _chunks(content: bytes | memoryview, body: BodyParser) -> bytes:
    """What came of a body as the visitor gets it, its end as well."""
    chunk = encode_chunk(content) if content else b""
    return chunk + encode_end(pass_trailers(body.trailers)) if body.done else chunk
