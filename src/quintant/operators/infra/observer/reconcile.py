"""One pass of the observer: whom to look at, what the last looks showed, what that means."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from quintant.operators.infra.act.status import write_status
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.session import Secrets
from quintant.operators.infra.observer.observe import Target, target_of
from quintant.operators.infra.observer.plan import TargetNews, news, plan
from quintant.operators.infra.remote import Targets
from quintant.runtime.cache.client import Client
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.follower import Follower, Pace, Unreachable
from quintant.runtime.controller.result import Result

# A first look takes as long as its time-outs, and those are the user's.
PACE = Pace(patience=600.0)
NAME = "cluster"
# Secrets of others that are not watched are read again so often.
AGAIN_SECONDS = 60.0


class ClusterObserver:
    """Keeps an eye on made clusters."""

    def __init__(self, targets: Targets, secrets: Secrets, metrics: InfraMetrics) -> None:
        self._targets, self._secrets, self._metrics = targets, secrets, metrics
        self._near: Client | None = None
        self.looks: Follower[Target, TargetNews] = Follower(self._watch, pace=PACE)

    async def __call__(self, cluster: Cluster, ctx: Context[Cluster]) -> Result | None:
        self._near = ctx.client
        target = await target_of(ctx.client, cluster, self._secrets)
        told = self.looks.want(ctx.request, {NAME: target} if target is not None else {})
        spec = cluster.spec.observer
        if NAME in told:
            change = plan(told[NAME], require_nodes=spec is not None and spec.require_nodes)
            await write_status(ctx, change)
        given = cluster.spec.tosca is None and target is not None
        return Result(after=AGAIN_SECONDS) if given else None

    async def _watch(self, target: Target, /) -> AsyncGenerator[TargetNews, None]:
        """Look, and look again, for as long as somebody wants to know."""
        known: TargetNews | None = None
        while True:
            if self._near is None:
                raise Unreachable("nobody asked yet")
            look = await self._targets(
                self._near,
                target.kubeconfig.reveal(),
                seconds=target.timeout,
                insecure=target.insecure,
            )
            if look.failure:
                self._metrics.observer_failures.inc()
            known = news(known, look, target.threshold)
            yield known
            await asyncio.sleep(target.interval)
