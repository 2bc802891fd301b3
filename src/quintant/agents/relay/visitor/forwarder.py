"""A request from its head to its answer: which tunnel, another one if that fails, and when not.

A request is tried again only where that cannot do it twice: the Service was never reached, or the
method is idempotent; and never once a byte of an answer came, or more of the body went than is
kept. Methods that are not idempotent always get a connection of their own, because an idle one may
be closed by the Service at that very moment.
"""

from __future__ import annotations

import asyncio
from random import Random

import msgspec

from quintant.agents.multiplex.duplex import DuplexStream
from quintant.agents.relay import responses
from quintant.agents.relay.hosts import target_of
from quintant.agents.relay.metrics import RelayMetrics
from quintant.agents.relay.rate_limits import RequestLimiter
from quintant.agents.relay.responses import RelayResponse
from quintant.agents.relay.tunnel.name_registry import NameRegistry
from quintant.agents.relay.tunnel.tunnel_connection import TunnelConnection
from quintant.agents.relay.visitor.exchange import (
    BAD,
    ENDED,
    LATE,
    Exchange,
    ExchangeFailed,
    ExchangeLimits,
)
from quintant.agents.relay.visitor.fields import ClientOrigin, to_service
from quintant.agents.relay.visitor.shares import AddressShares, share_address
from quintant.agents.relay.visitor.upload import Upload
from quintant.agents.relay.visitor.visitor import Visitor
from quintant.agents.relay.visitor.visitor_queue import VisitorQueue
from quintant.http.framing import Framing, FramingKind, request_framing
from quintant.http.head import ProtocolError, RequestHead
from quintant.wire.portal import Fault

RETRIES = 2
_CHUNKED = FramingKind.CHUNKED
IDEMPOTENT = frozenset((b"GET", b"HEAD", b"OPTIONS", b"TRACE", b"PUT", b"DELETE"))
_UNREACHED = (Fault.REFUSED, Fault.CONNECT_TIMEOUT, Fault.DRAINING)
"""The Service saw nothing of the request."""
_UNKNOWN = (0, ENDED, Fault.CANCEL)
"""Nobody knows what the Service saw."""


def may_retry(code: int, idempotent: bool, upload: Upload | None) -> bool:
    """Whether an attempt that failed before an answer may be followed by another."""
    if upload is not None and (upload.error or not upload.repeatable):
        return False
    begun = upload is not None and upload.begun
    return (code in _UNREACHED and (idempotent or not begun)) or (code in _UNKNOWN and idempotent)


class ForwardedRequest(msgspec.Struct, frozen=True):
    """A request that is to be carried."""

    app: str
    head: RequestHead
    visitor: Visitor
    address: str
    """Whose share it counts against, and whose turns it takes."""
    upload: Upload | None
    raw: bytes
    """Its head as the Service gets it."""
    id: str
    idempotent: bool
    """Whether doing it twice is doing it once."""


class Forwarder:
    """Carries requests to the tunnels of their apps."""

    def __init__(
        self,
        names: NameRegistry[TunnelConnection],
        random: Random,
        limits: ExchangeLimits,
        metrics: RelayMetrics,
        queue: VisitorQueue,
        rates: RequestLimiter,
    ) -> None:
        self._names, self._random, self._rates = names, random, rates
        self._limits, self._metrics, self._queue = limits, metrics, queue
        self._shares = AddressShares()

    async def forward(
        self, app: str, head: RequestHead, visitor: Visitor, origin: ClientOrigin
    ) -> bool:
        """Answer a request; whether the visitor's connection may carry another."""
        request = self._request(app, head, visitor, origin)
        address = request.address
        if (
            fast := self._rates.refuse(app, address, asyncio.get_running_loop().time())
        ) is not None:
            self._metrics.turned_away.labels(fast.reason).inc()
            return await self._refuse(request, responses.too_fast(*fast))
        if request.upload is not None and not head.all(b"expect"):
            await request.upload.begin()
        if not self._fits(app, address) and not await self._admitted(app, address):
            return await self._refuse(request, self._full(app))
        self._shares.hold(app, address)
        try:
            return await self._try(request)
        finally:
            self._shares.release(app, address)
            self._queue.left(app)

    async def _admitted(self, app: str, address: str) -> bool:
        """Wait for a stream; whether there is one in time."""
        began = asyncio.get_running_loop().time()
        admitted = await self._queue.admitted(app, lambda: self._fits(app, address))
        self._metrics.waited(asyncio.get_running_loop().time() - began)
        return admitted

    def _fits(self, app: str, address: str) -> bool:
        """Whether there is a stream for an address; an app without tunnels is told so at once."""
        tunnels = self._names.sessions(app)
        free = sum([tunnel.free for tunnel in tunnels])
        return not tunnels or self._shares.fits(app, address, free)

    def _full(self, app: str) -> RelayResponse:
        free = any(tunnel.free for tunnel in self._names.sessions(app))
        self._metrics.turned_away.labels("share" if free else "full").inc()
        return responses.SHARE if free else responses.BUSY

    async def _try(self, request: ForwardedRequest) -> bool:
        """Lead a request through one tunnel or another."""
        app = request.app
        failed: frozenset[TunnelConnection] = frozenset()
        answer: RelayResponse | None = None
        for _ in range(1 + RETRIES):
            tunnel = self._names.pick(app, self._random, failed)
            if tunnel is None:
                break
            duplex, used = tunnel.stream(request.address, request.id, request.idempotent)
            try:
                return await self._attempt(request, tunnel, duplex)
            except ExchangeFailed as failure:
                if request.upload is not None and request.upload.error is not None:
                    raise request.upload.error from None
                answer = _answer(failure)
                if not may_retry(failure.code, request.idempotent, request.upload):
                    break
                self._metrics.retries.labels(_reason(failure.code)).inc()
                # A connection that grew old says nothing about its tunnel.
                failed |= frozenset() if used else {tunnel}
        return await self._refuse(request, answer or self._absent(app))

    def _request(
        self, app: str, head: RequestHead, visitor: Visitor, origin: ClientOrigin
    ) -> ForwardedRequest:
        target, framing = target_of(head), request_framing(head)
        if 0 < self._limits.upload.most < framing.size:
            raise ProtocolError(413, responses.TOO_LARGE.text)
        id = f"{self._random.getrandbits(128):032x}"
        limits = self._limits.upload
        upload = Upload(visitor, framing, limits) if _has_body(framing) else None
        raw = to_service(head, target, framing, origin, id)
        address = share_address(head, origin)
        idempotent = head.method in IDEMPOTENT
        return ForwardedRequest(app, head, visitor, address, upload, raw, id, idempotent)

    async def _attempt(
        self, request: ForwardedRequest, tunnel: TunnelConnection, duplex: DuplexStream
    ) -> bool:
        exchange = Exchange(request.head, request.visitor, duplex, self._limits)
        loop, stream = asyncio.get_running_loop(), duplex.stream
        began, got, sent = loop.time(), stream.got_bytes, stream.sent_bytes
        self._metrics.active += 1
        try:
            await exchange.run(request.raw, request.upload)
        finally:
            self._metrics.active -= 1
            self._metrics.carried(stream.sent_bytes - sent, stream.got_bytes - got)
            if exchange.reusable:
                tunnel.give_back(request.address, duplex)
            else:
                duplex.close()
        self._metrics.answered(exchange.status, loop.time() - began, exchange.first_byte - began)
        return not exchange.close

    def _absent(self, app: str) -> RelayResponse:
        if not self._names.known(app, asyncio.get_running_loop().time()):
            return responses.unknown(app)
        return responses.BUSY if self._names.sessions(app) else responses.NO_TUNNEL

    async def _refuse(self, request: ForwardedRequest, answer: RelayResponse) -> bool:
        head, upload = request.head, request.upload
        unread = upload is not None and not upload.done
        close = head.minor == 0 or unread or b"close" in head.connection
        self._metrics.refused(answer.status)
        await request.visitor.write(answer.encode(close, head.method == b"HEAD"))
        return not close


def _has_body(framing: Framing) -> bool:
    return framing.size > 0 or framing.kind is _CHUNKED


def _answer(failure: ExchangeFailed) -> RelayResponse:
    own = {ENDED: responses.CLOSED, BAD: responses.BAD_RESPONSE, LATE: responses.SLOW}
    return own.get(failure.code) or responses.failed(failure.code, str(failure))


def _reason(code: int) -> str:
    return Fault(code).name.lower() if code > 0 else "ended" if code == ENDED else "lost"
