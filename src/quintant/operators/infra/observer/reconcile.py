"""One pass of the observer: whom to look at, what the last looks showed, what that means."""

from __future__ import annotations

from quintant.operators.infra.act.status import write_status
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.secrets import Secrets
from quintant.operators.infra.observer.observe import ObservedTarget, TargetWatcher, target_of
from quintant.operators.infra.observer.plan import TargetNews, plan
from quintant.operators.infra.remote import Targets
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.follower import Follower, Pace
from quintant.runtime.controller.result import Result

# A first look takes as long as its time-outs, and those are the user's.
PACE = Pace(patience=600.0)
NAME = "cluster"
# Secrets of others that are not watched are read again so often.
AGAIN_SECONDS = 60.0


class ClusterObserver:
    """Keeps an eye on made clusters."""

    def __init__(self, targets: Targets, secrets: Secrets, metrics: InfraMetrics) -> None:
        self._secrets, self._watcher = secrets, TargetWatcher(targets, metrics)
        self.looks: Follower[ObservedTarget, TargetNews] = Follower(self._watcher.watch, pace=PACE)

    async def __call__(self, cluster: Cluster, ctx: Context[Cluster]) -> Result | None:
        self._watcher.near = ctx.client
        target = await target_of(ctx.client, cluster, self._secrets)
        told = self.looks.want(ctx.request, {NAME: target} if target is not None else {})
        spec = cluster.spec.observer
        if NAME in told:
            change = plan(told[NAME], require_nodes=spec is not None and spec.require_nodes)
            await write_status(ctx, ctx.obj, change)
        given = cluster.spec.tosca is None and target is not None
        return Result(after=AGAIN_SECONDS) if given else None
