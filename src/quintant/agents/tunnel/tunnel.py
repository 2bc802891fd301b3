"""A tunnel at work: its connections, the connections to the Service, and the end of it all."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from random import Random, SystemRandom

from quintant.agents.dns.host_resolver import HostResolver
from quintant.agents.multiplex.program import say
from quintant.agents.multiplex.stream import ByteStream
from quintant.agents.portalv1.seed import SEED_BYTES
from quintant.agents.tunnel.admin import serving
from quintant.agents.tunnel.metrics import TunnelMetrics
from quintant.agents.tunnel.options import TunnelOptions
from quintant.agents.tunnel.relay_client import RelayClient
from quintant.agents.tunnel.service_stream import (
    ServiceDialer,
    ServiceStream,
    ServiceUnreachable,
    tls_context,
)
from quintant.agents.tunnel.status import TunnelStatus
from quintant.version import QUINTANT
from quintant.wire.portal import Hello, Opening

SETTLE_SECONDS = 20.0
"""A tunnel that starts is ready without a relay that is away after two attempts of
`dial.CONNECT_SECONDS`: until then the one that it replaces serves the visitors of every relay."""

VISITS_SECONDS = 5.0
"""Between two reports of how many visitors came."""


async def serve(options: TunnelOptions, stopped: asyncio.Event) -> None:
    """Be a tunnel until told to stop, then drain."""
    status, metrics = TunnelStatus(options.pod, lambda: datetime.now(UTC)), TunnelMetrics()
    resolver = HostResolver(options.resolve)
    dialer = ServiceDialer(options.service, resolver, tls_context(options.service.tls))
    agent, limits = f"quintant/{QUINTANT}", options.limits
    hello = Hello(options.app, options.group, options.pod, agent, limits=limits)
    seed = options.key or os.urandom(SEED_BYTES)
    # Seeded once: masks and pauses have to be unforeseen, and asking the system each time is slow.
    random = Random(SystemRandom().getrandbits(256))
    async with asyncio.TaskGroup() as group:
        visits = Visits(dialer, status, metrics, group)
        connections = [RelayClient(relay, hello, seed, visits, status) for relay in options.relays]
        async with serving(status, lambda: metrics.render(status, visits.active), options.admin):
            say("started", app=options.app, admin=status.admin_port)
            works = [group.create_task(each.run(resolver, random, metrics)) for each in connections]
            counting = group.create_task(_tell_visits(status))
            settling = asyncio.get_running_loop().call_later(SETTLE_SECONDS, status.settle)
            await stopped.wait()
            settling.cancel()
            say("draining", streams=visits.active)
            status.drain()
            await asyncio.gather(*(each.drain(options.drain) for each in connections))
            for work in (counting, *works):
                work.cancel()
            visits.close()
    say("ended")


async def _tell_visits(status: TunnelStatus) -> None:
    while True:
        await asyncio.sleep(VISITS_SECONDS)
        status.tell_visits()


class Visits:
    """The visitors that are here, whichever relay they came by."""

    def __init__(
        self,
        dialer: ServiceDialer,
        status: TunnelStatus,
        metrics: TunnelMetrics,
        group: asyncio.TaskGroup,
    ) -> None:
        self._dialer, self._status, self._metrics, self._group = dialer, status, metrics, group
        self._dials: dict[ServiceStream, asyncio.Task[None]] = {}
        self.active: int = 0

    def opened(self, stream: ByteStream, opening: Opening) -> None:
        """A visitor came: connect to the Service for it."""
        pipe = ServiceStream(stream, self._done)
        self.active += 1
        self._status.visit()
        task = self._group.create_task(self._dial(pipe))
        self._dials[pipe] = task

    def close(self) -> None:
        """Give up what is still being connected."""
        for task in self._dials.values():
            task.cancel()

    async def _dial(self, pipe: ServiceStream) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            await self._dialer.dial(lambda: pipe)
        except ServiceUnreachable as unreached:
            # Forgotten first, or its end would cancel the very task that tells of it.
            self._dials.pop(pipe, None)
            pipe.fail(unreached.fault, str(unreached))
            self._status.reach(str(unreached))
            return
        finally:
            self._dials.pop(pipe, None)
        self._metrics.dial.observe(loop.time() - began)
        self._status.reach("")

    def _done(self, pipe: ServiceStream, result: str) -> None:
        self.active -= 1
        self._metrics.streams.labels(result).inc()
        self._metrics.bytes.labels("in").inc(pipe.stream.got_bytes)
        self._metrics.bytes.labels("out").inc(pipe.stream.sent_bytes)
        if (dial := self._dials.pop(pipe, None)) is not None and not dial.done():
            dial.cancel()
