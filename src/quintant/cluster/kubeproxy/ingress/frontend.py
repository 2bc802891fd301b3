"""httputil.ReverseProxy: a client of an Ingress, request by request.

    WAITING --first byte--> READING --head--> FORWARDING --answer--> WAITING ... --> over

A request that is refused ends its connection: it is not known where the next one would begin. Every
request has a connection to its pod of its own, so no pod sees bytes of two clients in a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from quintant.agents.relay.hosts import target_of
from quintant.agents.relay.responses import RelayResponse
from quintant.agents.relay.visitor.exchange import (
    LATE,
    Exchange,
    ExchangeFailed,
    ExchangeLimits,
    ResponseCut,
)
from quintant.agents.relay.visitor.fields import ClientOrigin, to_service
from quintant.agents.relay.visitor.upload import Upload
from quintant.agents.relay.visitor.visitor import Visitor
from quintant.cluster.kubeproxy.ingress.backend_stream import BackendStream, dial
from quintant.cluster.kubeproxy.ingress.backends import Backends
from quintant.cluster.kubeproxy.ingress.routes import PathRule, RouteTable
from quintant.cluster.kubeproxy.routes import RealServer
from quintant.core.clock import Random
from quintant.http.connection import Disconnected
from quintant.http.framing import Framing, FramingKind, request_framing
from quintant.http.head import ProtocolError, RequestHead, parse_request_head
from quintant.http.request import RequestLimits, linger, next_head

VIA = b"1.1 quintant-ingress"
LIMITS = RequestLimits()
"""What clients may send before it is known whom they want to reach, and how slowly."""
EXCHANGE_LIMITS = ExchangeLimits()
_HOST = re.compile(rb"([A-Za-z0-9.\-_]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")

NO_RULE = RelayResponse(404, "", "no Ingress has a rule for this host and path")
NO_SERVICE = RelayResponse(503, "", "the Service of this rule, or its port, is not there")
NO_ENDPOINT = RelayResponse(503, "", "the Service of this rule has no endpoint that is ready")
UNREACHED = RelayResponse(502, "", "no endpoint of the Service takes connections")
BAD_ANSWER = RelayResponse(502, "", "the pod broke off, or does not speak HTTP")
SLOW = RelayResponse(504, "", "the pod does not answer in time")


class IngressFrontend:
    """Serves clients by the rules that are in force when each request begins."""

    def __init__(self, backends: Backends, random: Random) -> None:
        self.table: RouteTable = RouteTable()
        self._backends, self._random = backends, random

    async def serve(self, client: Visitor, scheme: str) -> None:
        """Answer the requests of a connection until it is over."""
        try:
            try:
                while await self._one(client, scheme):
                    pass
            except ProtocolError as refused:
                await client.write(RelayResponse(refused.status, "", str(refused)).encode(True))
                await linger(client, LIMITS.linger_seconds)
        except ResponseCut as cut:
            if cut.unframed:
                client.reset()
        except Disconnected:
            pass
        client.close()

    async def _one(self, client: Visitor, scheme: str) -> bool:
        """Answer one request; whether there may be another."""
        raw = await next_head(client, LIMITS)
        if not raw:
            return False
        head = parse_request_head(raw)
        host, target, framing = requested_host(head), target_of(head), request_framing(head)
        client.origin = client.origin or _origin(client, scheme)
        rule = self.table.match(host, target.partition(b"?")[0].decode("latin-1"))
        servers = self._servers(rule)
        if isinstance(servers, RelayResponse):
            return await _refuse(client, head, servers)
        stream = await _connected(servers)
        if stream is None:
            return await _refuse(client, head, UNREACHED)
        return await self._forward(head, target, framing, client, client.origin, stream)

    def _servers(self, rule: PathRule | None) -> Sequence[RealServer] | RelayResponse:
        """The endpoints to try, or why there are none."""
        if rule is None:
            return NO_RULE
        found = None if rule.backend is None else self._backends.choose(rule.backend)
        if found is None:
            return NO_SERVICE
        return found or NO_ENDPOINT

    async def _forward(
        self,
        head: RequestHead,
        target: bytes,
        framing: Framing,
        client: Visitor,
        origin: ClientOrigin,
        stream: BackendStream,
    ) -> bool:
        exchange = Exchange(head, client, stream.duplex, EXCHANGE_LIMITS, via=VIA)
        upload = None
        try:
            if framing.size or framing.kind is FramingKind.CHUNKED:
                upload = Upload(client, framing, EXCHANGE_LIMITS.upload)
            id = f"{self._random.getrandbits(128):032x}"
            await exchange.run(to_service(head, target, framing, origin, id, via=VIA), upload)
        except ExchangeFailed as failure:
            if upload is not None and upload.error is not None:
                raise upload.error from None
            answer = SLOW if failure.code == LATE else BAD_ANSWER
            return await _refuse(
                client, head, answer, unread=upload is not None and not upload.done
            )
        finally:
            if exchange.reusable:
                stream.close()
            else:
                stream.duplex.close()
        return not exchange.close


def requested_host(head: RequestHead) -> str:
    """The host of a request, in lower case and without its port. ProtocolError without just one."""
    hosts = head.all(b"host")
    found = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
    if found is None:
        raise ProtocolError(400, "not exactly one Host")
    return found[1].decode("ascii").lower().removesuffix(".")


async def _connected(servers: Sequence[RealServer]) -> BackendStream | None:
    """A connection to the first endpoint that takes one."""
    for server in servers:
        if (stream := await dial(server)) is not None:
            return stream
    return None


async def _refuse(
    client: Visitor, head: RequestHead, answer: RelayResponse, *, unread: bool | None = None
) -> bool:
    """Answer in the controller's own name. A body that nobody reads ends the connection."""
    if unread is None:
        unread = bool(head.all(b"content-length") or head.all(b"transfer-encoding"))
    close = unread or head.minor == 0 or b"close" in head.connection
    await client.write(answer.encode(close, head.method == b"HEAD"))
    return not close


def _origin(client: Visitor, scheme: str) -> ClientOrigin:
    peer, here = (client.transport.get_extra_info(name) for name in ("peername", "sockname"))
    if not peer or not here:
        raise Disconnected
    return ClientOrigin(peer[0], scheme, here[1])
