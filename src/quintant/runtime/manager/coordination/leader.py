"""A replica that competes for a Lease, and works while it holds it."""

from __future__ import annotations

import asyncio
from typing import Any

from quintant.client.rest import Rest
from quintant.runtime.leader.elector import Elector, replica_identity
from quintant.runtime.leader.lease import Election
from quintant.runtime.manager.coordination.replica import Coordination, cancelled
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.health import HealthChecks
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.settings import Settings


class LeaderCoordination(Coordination):
    """Work begins once this replica leads; writes end in time for the next leader."""

    elector: Elector

    def __init__(self, settings: Settings, environment: Environment, metrics: Metrics) -> None:
        super().__init__(environment.transport)
        self.elector = _new_elector(settings, environment, metrics)
        self.fence = self.elector.fence
        self.write_seconds = self.elector.election.write_timeout
        self.lease_left = self.elector.seconds_to_doubt

    def declare_checks(self, health: HealthChecks) -> None:
        health.add_elector(self.elector)

    async def run(self) -> None:
        await self.elector.run()

    async def wait_elected(self) -> None:
        await self.elector.wait_elected()

    async def leave(self, running: asyncio.Task[Any]) -> None:
        await cancelled(running)
        await self.elector.release()


def _new_elector(settings: Settings, environment: Environment, metrics: Metrics) -> Elector:
    times = settings.lease
    election = Election(
        settings.name,
        settings.lease_namespace or environment.namespace,
        replica_identity(environment.random),
        times.duration,
        times.renew,
        times.retry,
    )
    return Elector(
        Rest(environment.transport),
        election,
        clock=environment.clock,
        random=environment.random,
        metrics=metrics.leader(settings.name),
        boottime=environment.boottime,
    )
