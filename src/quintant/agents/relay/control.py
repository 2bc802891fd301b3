"""Where tunnels connect: the WebSocket at the relay's own name, tokens, and who gets which name."""

from __future__ import annotations

import asyncio
from random import Random

from aiohttp import web

from quintant.agents.mux.link import Link
from quintant.agents.mux.program import say
from quintant.agents.mux.session import Violation
from quintant.agents.relay.hosts import LABEL
from quintant.agents.relay.metrics import Metrics
from quintant.agents.relay.names import LEASE_SECONDS, Denied, Names
from quintant.agents.relay.options import HTTPS, Options
from quintant.agents.relay.tokens import ANYBODY, Principal, Tokens
from quintant.agents.relay.tunnel import Tunnel
from quintant.version import QUINTANT
from quintant.wire.portal import (
    MESSAGE_BYTES,
    PROTOCOL,
    Close,
    Hello,
    Reason,
    Welcome,
    close_reason,
)

_BEARER = "Bearer "


class Control:
    """Lets tunnels in. `port` is what visitors connect to."""

    def __init__(
        self,
        options: Options,
        names: Names[Tunnel],
        tokens: Tokens | None,
        metrics: Metrics,
        random: Random,
    ) -> None:
        self._options, self._names, self._tokens = options, names, tokens
        self._metrics, self._random = metrics, random
        self._links: set[Link] = set()
        self.port = HTTPS

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """One connection of a tunnel, from the upgrade to its end."""
        socket = web.WebSocketResponse(
            protocols=(PROTOCOL,), max_msg_size=MESSAGE_BYTES, compress=False
        )
        await socket.prepare(request)
        who = self._who(request.headers.get("Authorization", ""))
        if who is None:
            self._metrics.denied.add()
            await _turn_away(socket, Reason(Close.UNAUTHENTICATED, "no token that is known here"))
        elif socket.ws_protocol != PROTOCOL:
            await _turn_away(socket, Reason(Close.VERSION, f"only {PROTOCOL} is spoken here"))
        else:
            await self._serve(socket, who)
        return socket

    async def close(self) -> None:
        """Close every connection: the relay is going down."""
        reason = Reason(Close.DRAINING, "the relay is restarting", 1000)
        await asyncio.gather(*(link.close(reason) for link in list(self._links)))

    async def _serve(self, socket: web.WebSocketResponse, who: Principal) -> None:
        link = Link(socket, self._options.pulse)
        tunnel = Tunnel(link, lambda tunnel, hello: self._join(tunnel, hello, who))
        self._links.add(link)
        reason = Reason(0, "cancelled")
        try:
            reason = await link.run(tunnel.session)
        finally:
            self._links.discard(link)
            self._metrics.stalled(link.stalled)
            if tunnel.app:
                now = asyncio.get_running_loop().time()
                self._names.leave(tunnel.app, tunnel, now)
                say("left", app=tunnel.app, code=reason.code, because=reason.msg)

    def _who(self, header: str) -> Principal | None:
        if self._tokens is None:
            return ANYBODY
        if not header.startswith(_BEARER):
            return None
        return self._tokens.find(header.removeprefix(_BEARER).strip())

    def _join(self, tunnel: Tunnel, hello: Hello, who: Principal) -> Welcome:
        now = asyncio.get_running_loop().time()
        if not LABEL.fullmatch(hello.app) or not hello.group:
            raise Violation("a name that is no DNS label, or no group", Close.NOT_ALLOWED)
        try:
            self._names.join(hello.app, hello.group, who, tunnel, now)
        except Denied as denied:
            if denied.code == Close.NOT_ALLOWED:
                self._metrics.denied.add()
            raise Violation(str(denied), denied.code) from None
        tunnel.app = hello.app
        say("joined", app=hello.app, instance=hello.instance, agent=hello.agent)
        return Welcome(
            relay=f"quintant/{QUINTANT}",
            session=f"{self._random.getrandbits(64):016x}",
            public_url=self._public(hello.app),
            ping_ms=round(self._options.pulse.ping * 1000),
            lease_s=round(LEASE_SECONDS),
        )

    def _public(self, app: str) -> str:
        port = "" if self.port == HTTPS else f":{self.port}"
        return f"https://{app}.{self._options.domains[0]}{port}"


async def _turn_away(socket: web.WebSocketResponse, reason: Reason) -> None:
    await socket.close(code=reason.code, message=close_reason(reason))
