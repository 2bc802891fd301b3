"""A relay at work: its ports, the connections on them, and the end of it all.

Every request is routed by its own Host, never by its connection: what follows on a kept-alive
connection may be for another tenant. A connection becomes a tunnel's only by an upgrade at the
relay's own name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from random import Random, SystemRandom

from quintant.agents.apiclient.pod_account import PodAccount
from quintant.agents.multiplex.program import say
from quintant.agents.relay import certificates
from quintant.agents.relay.admin import serving
from quintant.agents.relay.frontend import LIMITS, Frontend
from quintant.agents.relay.metrics import RelayMetrics
from quintant.agents.relay.options import RelayOptions
from quintant.agents.relay.rate_limits import RequestLimiter
from quintant.agents.relay.tunnel.control import Control
from quintant.agents.relay.tunnel.name_registry import NameRegistry
from quintant.agents.relay.tunnel.secret_tokens import SecretTokens
from quintant.agents.relay.tunnel.tokens import TokenList, TunnelTokens
from quintant.agents.relay.tunnel.tunnel_connection import TunnelConnection
from quintant.agents.relay.visitor.forwarder import Forwarder
from quintant.agents.relay.visitor.visitor import Visitor
from quintant.agents.relay.visitor.visitor_queue import VisitorQueue
from quintant.http.connections import Connections

SWEEP_SECONDS = 2.0
"""Between looks at idle streams, leases, and files that may have changed."""
BACKLOG = 4096
"""Connections that wait to be taken: of a thousand visitors who come at once, the last would wait a
second for their next attempt. The system may allow fewer (somaxconn)."""
RETURN_MS = 1000
"""When tunnels of a relay that restarts may come back."""


async def serve(options: RelayOptions, stopped: asyncio.Event) -> None:
    """Be a relay until told to stop, then drain."""
    # Seeded once: draws and ids have to be unforeseen, and asking the system each time is slow.
    async with running(options, Random(SystemRandom().getrandbits(256))) as relay:
        say("started", tls=relay.tls_port, http=relay.http_port, domains=options.domains)
        await stopped.wait()
        say("draining", requests=relay.metrics.active)
        await relay.drain()
    say("ended")


@asynccontextmanager
async def running(options: RelayOptions, random: Random) -> AsyncIterator[Relay]:
    """A relay that serves while the context lasts."""
    async with asyncio.TaskGroup() as group:
        relay = Relay(options, random, group)
        try:
            await relay.start()
            admin = (options.listen, options.admin_port)
            async with serving(relay.metrics, relay.names, admin, lambda: relay.draining):
                yield relay
        finally:
            await relay.close()


class Relay:
    """The state of a relay."""

    def __init__(self, options: RelayOptions, random: Random, group: asyncio.TaskGroup) -> None:
        self._options, self._group = options, group
        self.metrics: RelayMetrics = RelayMetrics()
        self.draining: bool = False
        self.names: NameRegistry[TunnelConnection] = NameRegistry(
            options.sessions, options.group_sessions
        )
        self._tokens = _tokens(options)
        self._served = _certificate(options)
        self._rates = RequestLimiter()
        self._control = Control(
            options, self.names, self._tokens, self.metrics, random, self._rates
        )
        queue = VisitorQueue(options.queue)
        self.metrics.queued = lambda: queue.size
        forwarder = Forwarder(self.names, random, options.limits, self.metrics, queue, self._rates)
        self._frontend = Frontend(options, forwarder, self._control, self.metrics)
        self._servers: list[asyncio.Server] = []
        self._visitors = Connections(_failed)
        self._sweeper: asyncio.Task[None] | None = None
        self._follower: asyncio.Task[None] | None = None

    @property
    def tls_port(self) -> int:
        """Where tunnels and visitors connect."""
        return _port(self._servers[0])

    @property
    def http_port(self) -> int:
        """Where visitors connect without TLS; 0 if nowhere."""
        return _port(self._servers[1]) if len(self._servers) > 1 else 0

    async def start(self) -> None:
        """Listen."""
        loop, options = asyncio.get_running_loop(), self._options
        if isinstance(self._tokens, SecretTokens):
            follow = self._tokens.follow(self._control.recheck)
            self._follower = self._group.create_task(follow)
            await self._tokens.wait_first()
        self._servers.append(
            await loop.create_server(
                lambda: self._visitor("https"),
                options.listen,
                options.tls_port,
                backlog=BACKLOG,
                ssl=self._served.context,
                ssl_handshake_timeout=LIMITS.head_seconds,
            )
        )
        self._control.port = options.public_port or self.tls_port
        if options.http_port >= 0:
            self._servers.append(
                await loop.create_server(
                    lambda: self._visitor("http"),
                    options.listen,
                    options.http_port,
                    backlog=BACKLOG,
                )
            )
        self._sweeper = self._group.create_task(self._sweep())

    async def drain(self) -> None:
        """Take no new connections, send tunnels away, and finish what is under way."""
        self.draining = True
        for server in self._servers:
            server.close()
        for tunnel in list(self.names.everybody()):
            tunnel.send_away(RETURN_MS)
        self._frontend.closing = True
        self._visitors.close_idle()
        await self._visitors.wait_closed(self._options.drain)

    async def close(self) -> None:
        """End every connection."""
        for server in self._servers:
            server.close()
        await self._visitors.close()
        await self._control.close()
        for task in (self._sweeper, self._follower):
            if task is not None:
                task.cancel()

    def _visitor(self, scheme: str) -> Visitor:
        return Visitor(lambda visitor: self._serve(visitor, scheme))

    def _serve(self, visitor: Visitor, scheme: str) -> asyncio.Task[None]:
        return self._visitors.serve(visitor, self._frontend.serve(visitor, scheme))

    async def _sweep(self) -> None:
        """Look after what nobody else looks after."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = loop.time()
            self.names.sweep(now)
            self._rates.sweep(now, partial(self.names.known, now=now))
            for tunnel in self.names.everybody():
                tunnel.pool.sweep(now)
            reloads = self._reloads()
            self._control.recheck()
            for what, wrong in reloads.items():
                if wrong:
                    say("not reloaded", file=what, because=wrong)

    def _reloads(self) -> dict[str, str]:
        tokens = self._tokens.reload() if self._tokens else ""
        return {"tokens": tokens, "certificate": self._served.reload()}


def _failed(error: BaseException) -> None:
    say("visit failed", error=type(error).__name__)


def _tokens(options: RelayOptions) -> TokenList | None:
    if options.tokens_secret:
        return SecretTokens(options.tokens_secret, PodAccount.find())
    return TunnelTokens(options.tokens) if options.tokens else None


def _certificate(options: RelayOptions) -> certificates.ServedCertificate:
    if options.certificate is not None and options.key is not None:
        return certificates.ServedCertificate(options.certificate, options.key)
    own = certificates.ensure(options.folder, options.domains, certificates.today())
    return certificates.ServedCertificate(*own)


def _port(server: asyncio.Server) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port
