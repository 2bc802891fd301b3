"""What a manager is bound to when it is served: the same declarations run anywhere.

Production binds an HTTP transport and the machine's clock and opens ports; a test binds an
in-process server and the loop's clock; simulation adds a seeded random source.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from socket import socket
from typing import TYPE_CHECKING

from msgspec import Struct, field

from quintant.client.transport import Transport
from quintant.core.clock import (
    Boottime,
    Clock,
    Random,
    SystemClock,
    monotonic,
    system_boottime,
)
from quintant.runtime.observe.tracing import Tracer

if TYPE_CHECKING:
    from quintant.client.config.config import Config


class ChildProcess(Struct, frozen=True):
    """What a process was given that is one of several of its machine: it opens no ports."""

    identity: str
    """What it is called as a member of its shards, so that its parent can bury it."""
    listening: socket
    """Where its parent asks for its health and its series."""


class Environment(Struct, frozen=True):
    """Transport, time and randomness, injected together."""

    transport: Transport
    clock: Clock = field(default_factory=SystemClock)
    random: Random = field(default_factory=Random)
    namespace: str = "default"
    """Where the process itself lives: its lease, unless the manager says otherwise."""
    listen: bool = False
    """Whether probes, metrics and webhooks open their ports."""
    boottime: Boottime = monotonic
    """Seconds that go on while the machine sleeps; the loop's do where time is virtual."""
    tracer: Tracer | None = None
    """Who makes spans of reconciles and requests; None makes none."""
    child: ChildProcess | None = None
    """What a parent process has handed down; None where there is none."""
    connect: Callable[[str, Config], Transport] | None = None
    """How another cluster is reached, by its name and kubeconfig; None is over the network."""

    @property
    def identity(self) -> str:
        """What the process is called among its replicas; empty if it may choose."""
        return self.child.identity if self.child is not None else ""

    async def close(self) -> None:
        """Release connections, once what was traced is sent."""
        try:
            if self.tracer is not None:
                await self.tracer.close()
        finally:
            await self.transport.close()


def production_environment(config: Config | None = None, *, service: str) -> Environment:
    """The cluster of the kubeconfig or of the pod, the machine's clock, and open ports.

    Where OpenTelemetry's variables ask for it, it is traced, as a `service` of that name.
    """
    # Loaded by programs that reach their cluster over the network.
    from quintant.client.config.config import Config
    from quintant.client.http.transport import HttpTransport

    found, tracer = config or Config.discover(), None
    if any(name.startswith("OTEL_") for name in os.environ):
        from quintant.runtime.observe.otel import tracer_from

        tracer = tracer_from(os.environ, service)
    return Environment(
        HttpTransport(found),
        namespace=found.namespace,
        listen=True,
        boottime=system_boottime,
        tracer=tracer,
    )
