"""The front of a relay: a visitor's connection, request by request.

    WAITING --first byte--> READING --head--> CARRYING --answer--> WAITING ... --> over

A request that is refused ends its connection: nobody can know where the next one would begin.
"""

from __future__ import annotations

from quintant.agents.multiplex.socket import WebSocket
from quintant.agents.relay import responses
from quintant.agents.relay.hosts import APEX, requested_app, target_of
from quintant.agents.relay.metrics import RelayMetrics
from quintant.agents.relay.options import RelayOptions
from quintant.agents.relay.responses import RelayResponse
from quintant.agents.relay.tunnel.control import Control, upgrade_response
from quintant.agents.relay.visitor.exchange import ResponseCut
from quintant.agents.relay.visitor.fields import ClientOrigin
from quintant.agents.relay.visitor.forwarder import Forwarder
from quintant.agents.relay.visitor.visitor import Visitor
from quintant.http.connection import Disconnected
from quintant.http.head import ProtocolError, RequestHead, parse_request_head, upgrade_protocol
from quintant.http.request import RequestLimits, linger, next_head
from quintant.wire.portal import PATH

LIMITS = RequestLimits()
"""What visitors may send before it is known whom they visit."""


class Frontend:
    """Serves visitors."""

    def __init__(
        self, options: RelayOptions, forwarder: Forwarder, control: Control, metrics: RelayMetrics
    ) -> None:
        self._options, self._forwarder = options, forwarder
        self._control, self._metrics = control, metrics
        self.closing = False
        """Whether each connection ends with the answer that is under way."""

    async def serve(self, visitor: Visitor, scheme: str) -> None:
        """Answer the requests of a connection until it is over."""
        try:
            try:
                while await self._one(visitor, scheme) and not self.closing:
                    pass
            except ProtocolError as refused:
                await self._refuse(visitor, responses.refused(refused.status, str(refused)))
        except ResponseCut as cut:
            if cut.unframed:
                visitor.reset()
        except Disconnected:
            pass
        visitor.close()

    async def _one(self, visitor: Visitor, scheme: str) -> bool:
        """Answer one request; whether there may be another."""
        raw = await next_head(visitor, LIMITS)
        if not raw:
            return False
        head = parse_request_head(raw)
        app = requested_app(head, self._options.domains)
        if app is None:
            return await self._say(visitor, head, responses.MISDIRECTED)
        if app == APEX:
            return await self._apex(visitor, head, scheme)
        visitor.origin = visitor.origin or self._origin(visitor, scheme)
        return await self._forwarder.forward(app, head, visitor, visitor.origin)

    async def _apex(self, visitor: Visitor, head: RequestHead, scheme: str) -> bool:
        """A request for the relay itself."""
        path = target_of(head).partition(b"?")[0].decode()
        if path == PATH and upgrade_protocol(head).lower() == b"websocket" and scheme == "https":
            agreed, socket = upgrade_response(head), WebSocket()
            visitor.hand_over(socket)
            socket.write(agreed)
            self._control.begin(socket, head)
            raise Disconnected
        answer = responses.HEALTHY if path == "/healthz" else responses.NOT_FOUND
        return await self._say(visitor, head, answer)

    async def _say(self, visitor: Visitor, head: RequestHead, answer: RelayResponse) -> bool:
        """Answer in the relay's own name. A body that nobody reads ends the connection."""
        body = head.all(b"content-length") or head.all(b"transfer-encoding")
        close = bool(body) or head.minor == 0 or b"close" in head.connection
        self._metrics.refused(answer.status)
        await visitor.write(answer.encode(close, head.method == b"HEAD"))
        return not close

    async def _refuse(self, visitor: Visitor, answer: RelayResponse) -> None:
        self._metrics.refused(answer.status)
        await visitor.write(answer.encode(close=True))
        await linger(visitor, LIMITS.linger_seconds)

    def _origin(self, visitor: Visitor, scheme: str) -> ClientOrigin:
        peer, here = (visitor.transport.get_extra_info(name) for name in ("peername", "sockname"))
        if not peer or not here:
            raise Disconnected
        return ClientOrigin(peer[0], scheme, here[1], peer[0] in self._options.trust)
