"""Where tunnels connect: the WebSocket at the relay's own name, tokens, and who gets which name."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from random import Random

from quintant.agents.multiplex.connection import MultiplexConnection
from quintant.agents.multiplex.program import say
from quintant.agents.multiplex.session import ProtocolViolation
from quintant.agents.multiplex.socket import WebSocket
from quintant.agents.multiplex.websocket import accept_key, valid_key
from quintant.agents.portalv1.identity import PortalCredential
from quintant.agents.portalv1.seed import SEED_BYTES
from quintant.agents.relay.hosts import LABEL
from quintant.agents.relay.metrics import RelayMetrics
from quintant.agents.relay.options import HTTPS, RelayOptions
from quintant.agents.relay.rate_limits import RequestLimiter
from quintant.agents.relay.tunnel.name_registry import LEASE_SECONDS, NameDenied, NameRegistry
from quintant.agents.relay.tunnel.portalv1_names import PortalV1Names
from quintant.agents.relay.tunnel.portalv1_tunnel import PortalV1Connection
from quintant.agents.relay.tunnel.tokens import ANYBODY, Principal, TokenList
from quintant.agents.relay.tunnel.tunnel_connection import MultiplexTunnel, TunnelConnection
from quintant.http.head import ProtocolError, RequestHead, encode_head
from quintant.version import QUINTANT
from quintant.wire.portal import PROTOCOL, Close, Hello, Reason, Welcome

_BEARER = "Bearer "
_NAME = PROTOCOL.encode()
_UNKNOWN = Reason(Close.UNAUTHENTICATED, "no token that is known here")


def upgrade_response(head: RequestHead) -> bytes:
    """What is answered to an upgrade; ProtocolError if it is none to a WebSocket."""
    keys, versions = head.all(b"sec-websocket-key"), head.all(b"sec-websocket-version")
    body = head.all(b"content-length") or head.all(b"transfer-encoding")
    if head.method != b"GET" or head.minor == 0 or body or versions != [b"13"]:
        raise ProtocolError(400, "not an upgrade to version 13 of WebSocket")
    if len(keys) != 1 or not valid_key(keys[0]):
        raise ProtocolError(400, "an upgrade without a key")
    fields = [
        (b"Connection", b"Upgrade"),
        (b"Upgrade", b"websocket"),
        (b"Sec-WebSocket-Accept", accept_key(keys[0])),
    ]
    if spoken(head):
        fields.append((b"Sec-WebSocket-Protocol", _NAME))
    return encode_head(b"HTTP/1.1 101 Switching Protocols", fields)


def spoken(head: RequestHead) -> bool:
    """Whether the tunnel speaks our protocol."""
    return _NAME in head.words(b"sec-websocket-protocol")


class Control:
    """Lets tunnels in. `port` is what visitors connect to."""

    def __init__(
        self,
        options: RelayOptions,
        names: NameRegistry[TunnelConnection],
        tokens: TokenList | None,
        metrics: RelayMetrics,
        random: Random,
        rates: RequestLimiter,
    ) -> None:
        self._options, self._names, self._tokens, self._rates = options, names, tokens, rates
        self._metrics, self._random = metrics, random
        self._sessions: dict[MultiplexTunnel, Principal] = {}
        self._portalv1: dict[PortalV1Connection, Principal] = {}
        # As whom the relay visits tunnels of Portal's own; they ask nobody who it is.
        self._credential = PortalCredential(os.urandom(SEED_BYTES))
        self._checked = tokens.version if tokens else 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = HTTPS

    def begin(self, socket: WebSocket, head: RequestHead) -> None:
        """Serve a connection of a tunnel, in a task that ends with it."""
        task = asyncio.get_running_loop().create_task(self._one(socket, head))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def recheck(self) -> None:
        """Close the sessions that the tokens of now would not let in, and end old leases."""
        for portalv1 in list(self._portalv1):
            portalv1.sweep(asyncio.get_running_loop().time())
        if self._tokens is None or self._tokens.version == self._checked:
            return
        self._checked = self._tokens.version
        for tunnel, who in list(self._sessions.items()):
            self._sessions[tunnel] = self._renewed(tunnel.connection, who, (tunnel.app,))
        for held, who in list(self._portalv1.items()):
            names = [each.app for each in held.leases.values()]
            self._portalv1[held] = self._renewed(held.connection, who, names)

    def _renewed(
        self, connection: MultiplexConnection, who: Principal, names: Iterable[str]
    ) -> Principal:
        """Who a connection's tunnel is by the tokens of now; it is closed if it has no right."""
        now = self._tokens.renew(who) if self._tokens else who
        lost = next((name for name in names if name and now and not now.may(name)), "")
        if now is None:
            connection.give_up(_UNKNOWN)
        elif lost:
            why = f"the token does not allow the name {lost} any more"
            connection.give_up(Reason(Close.NOT_ALLOWED, why))
        return now or who

    async def close(self) -> None:
        """Close every connection: the relay is going down."""
        reason = Reason(Close.DRAINING, "the relay is restarting", 1000)
        connections = [each.connection for each in self._sessions]
        connections += [each.connection for each in self._portalv1]
        await asyncio.gather(*(each.close(reason) for each in connections))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            say("tunnel failed", error=type(error).__name__)

    async def _one(self, socket: WebSocket, head: RequestHead) -> None:
        who = self._who(head)
        try:
            if who is None:
                self._metrics.denied.inc()
                say("refused", code=_UNKNOWN.code, because=_UNKNOWN.msg)
                await socket.close(_UNKNOWN)
            elif spoken(head):
                await self._serve(socket, who)
            else:
                await self._serve_portalv1(socket, who)
        finally:
            socket.abort()

    async def _serve(self, socket: WebSocket, who: Principal) -> None:
        connection = MultiplexConnection(socket, self._options.keepalive)
        tunnel = MultiplexTunnel(connection, self._join, self._options.streams)
        self._sessions[tunnel] = who
        reason = Reason(0, "cancelled")
        try:
            reason = await connection.run(tunnel.session)
        finally:
            del self._sessions[tunnel]
            self._metrics.stalled(connection.stalled)
            self._leave(tunnel, reason)

    async def _serve_portalv1(self, socket: WebSocket, who: Principal) -> None:
        """A tunnel of Portal's own, which names no protocol."""
        socket.as_byte_stream()
        connection = MultiplexConnection(socket, self._options.keepalive)
        names = PortalV1Names(self._names, who)
        tunnels = PortalV1Connection(connection, self._credential, names)
        tunnels.session.limit = self._options.streams
        self._portalv1[tunnels] = who
        reason = Reason(0, "cancelled")
        try:
            reason = await connection.run(tunnels.session)
        finally:
            del self._portalv1[tunnels]
            self._metrics.stalled(connection.stalled)
            tunnels.close()
            say("portal v1 connection ended", code=reason.code, because=reason.msg)

    def _leave(self, tunnel: TunnelConnection, reason: Reason) -> None:
        if tunnel.app:
            self._names.leave(tunnel.app, tunnel, asyncio.get_running_loop().time())
            say("left", app=tunnel.app, code=reason.code, because=reason.msg)

    def _who(self, head: RequestHead) -> Principal | None:
        if self._tokens is None:
            return ANYBODY
        values = head.all(b"authorization")
        header = values[0].decode("latin-1") if len(values) == 1 else ""
        if not header.startswith(_BEARER):
            return None
        return self._tokens.find(header.removeprefix(_BEARER).strip())

    def _join(self, tunnel: MultiplexTunnel, hello: Hello) -> Welcome:
        now, who = asyncio.get_running_loop().time(), self._sessions[tunnel]
        if not LABEL.fullmatch(hello.app) or not hello.group:
            raise ProtocolViolation("a name that is no DNS label, or no group", Close.NOT_ALLOWED)
        try:
            self._names.join(hello.app, hello.group, who, tunnel, now)
        except NameDenied as denied:
            if denied.code == Close.NOT_ALLOWED:
                self._metrics.denied.inc()
            say("refused", app=hello.app, code=denied.code, because=str(denied))
            raise ProtocolViolation(str(denied), denied.code) from None
        tunnel.app = hello.app
        self._rates.configure(hello.app, hello.limits)
        say("joined", app=hello.app, instance=hello.instance, agent=hello.agent)
        return Welcome(
            relay=f"quintant/{QUINTANT}",
            session=f"{self._random.getrandbits(64):016x}",
            public_url=self._public(hello.app),
            ping_ms=round(self._options.keepalive.ping * 1000),
            lease_s=round(LEASE_SECONDS),
        )

    def _public(self, app: str) -> str:
        port = "" if self.port == HTTPS else f":{self.port}"
        return f"https://{app}.{self._options.domains[0]}{port}"
