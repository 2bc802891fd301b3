"""A replica that is a member of a group, and works on the ranges of keys that it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from quintant.client.token_bucket import TokenBucket
from quintant.runtime.cache.caches import Caches
from quintant.runtime.controller.controller import Controller
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.leader.lease import LEASE_SECONDS, RENEW_SECONDS
from quintant.runtime.manager.coordination.replica import Coordination, cancelled
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.health import HealthChecks
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.settings import Settings
from quintant.runtime.shard.coordinator import Coordinator
from quintant.runtime.shard.layout import Shards
from quintant.runtime.shard.owned_ranges import OwnedRanges
from quintant.runtime.shard.process import GroupSettings, ShardedProcess, run_on_leader
from quintant.runtime.shard.shards_page import shards_page

WRITE_SECONDS = LEASE_SECONDS - RENEW_SECONDS
"""What a write of a member may take: it ends before another may claim what is ours."""
LEAVE_SECONDS = 5.0
"""What a process that stops may take to release its ranges, once nothing is under way."""


class ShardCoordination(Coordination):
    """Work begins with the first range; a write needs the range of its key."""

    owned: OwnedRanges
    coordinator: Coordinator
    write_seconds = WRITE_SECONDS

    def __init__(
        self,
        settings: Settings,
        shards: Shards,
        declarations: Sequence[Declaration[Any]],
        environment: Environment,
        metrics: Metrics,
    ) -> None:
        namespace = settings.lease_namespace or environment.namespace
        group = GroupSettings(settings.name, namespace, shards.ranges, settings.grace)
        self._process = process = ShardedProcess(group, declarations, environment)
        super().__init__(process.transport)
        self.owned, self.fence = process.owned, process.owned.fence
        metrics.add_collector(process.metrics)

    def bind(
        self, controllers: Sequence[Controller[Any]], caches: Caches, bucket: TokenBucket | None
    ) -> None:
        self.coordinator = self._process.coordinate(controllers, caches, bucket)
        self.json_pages = {"shards": partial(shards_page, self.coordinator, controllers)}

    def declare_checks(self, health: HealthChecks) -> None:
        health.add_readiness_note("shards", self.coordinator.trouble)

    async def run(self) -> None:
        await self.coordinator.run()

    def set_ready(self) -> None:
        self.coordinator.set_ready()

    async def run_on_leader(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        await run_on_leader(self.owned, name, work)

    def set_leaving(self) -> None:
        self.coordinator.set_leaving()

    async def leave(self, running: asyncio.Task[Any]) -> None:
        """Give the ranges that are left; writes without an answer have their time to end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(WRITE_SECONDS + LEAVE_SECONDS):
                await self.coordinator.wait_released()
        await cancelled(running)
        await self.coordinator.end()
