"""syncDaemonSet: claims pods, records the revision, acts on the plan, reports.

A pod that failed is deleted and made anew, on each node with growing patience.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct, field

from quintant.api.apps import ControllerRevision, DaemonSet
from quintant.cluster.controllers.daemonset.backoff import FailedPodsBackoff
from quintant.cluster.controllers.daemonset.placement import new_pod, target_node
from quintant.cluster.controllers.daemonset.plan import (
    DaemonSetPlan,
    DaemonSetState,
    plan_pods,
    plan_rolling_update,
)
from quintant.cluster.controllers.daemonset.status import report
from quintant.cluster.controllers.history import HASH, Recorded, record, revisions_to_delete
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.cluster.controllers.pods.control import create_pod, delete_pod
from quintant.cluster.controllers.pods.views import PodState, next_available, pod_finished
from quintant.cluster.controllers.ref_manager import claim_children
from quintant.cluster.controllers.slow_start import BURST, run_all, slow_start
from quintant.core.errors import ApiError
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

RETRY_SECONDS = 5.0
"""Before pods that were refused are tried again."""


class DaemonSetReconciler(Struct, frozen=True):
    """Brings the pods of DaemonSets to their nodes."""

    backoff: FailedPodsBackoff = field(default_factory=FailedPodsBackoff)

    async def __call__(self, daemons: DaemonSet, ctx: Context[DaemonSet]) -> Result | None:
        """Bring a DaemonSet one step further, and tell how it is."""
        history = await claim_children(
            ctx.client, daemons, daemons.spec.selector, ControllerRevision
        )
        collisions = daemons.status.collision_count
        recorded = await record(ctx, daemons.spec.template, history, collisions, HASH)
        world = await _observe(ctx, recorded)
        spared = self._pods_in_backoff(world)
        refusal = await self._act(
            world, plan_pods(world, spared) or plan_rolling_update(world), ctx
        )
        world = await _observe(ctx, recorded)
        await ctx.client.set_status(daemons, report(world, recorded.collisions))
        await _delete_old_revisions(world, [*history, recorded.revision], ctx)
        return self._next(world, spared, refusal)

    def _pods_in_backoff(self, world: DaemonSetState) -> list[PodState]:
        """The failed pods of nodes that have to wait."""
        key = world.daemons.key
        sites = [site for site in world.sites if self.backoff.seconds_left(key, site.name)]
        return [pod for site in sites for pod in site.ended if pod.status.phase == "Failed"]

    async def _act(
        self, world: DaemonSetState, plan: DaemonSetPlan, ctx: Context[DaemonSet]
    ) -> ApiError | None:
        for pod in plan.delete:
            self._report_failed_pod(pod, ctx)
        nodes = iter(plan.create)

        async def create() -> ApiError | None:
            return await create_pod(ctx, new_pod(world.daemons, next(nodes), world.hash))

        refusal = await slow_start(min(len(plan.create), BURST), create)
        deletes = [partial(delete_pod, ctx, pod) for pod in plan.delete[:BURST]]
        return await run_all(deletes) or refusal

    def _report_failed_pod(self, pod: PodState, ctx: Context[DaemonSet]) -> None:
        """Tell of a pod that ended, and remember it if it failed."""
        if not pod_finished(pod):
            return
        failed, node = pod.status.phase == "Failed", target_node(pod)
        what, will = ("failed", "kill") if failed else ("succeeded", "delete")
        ctx.event(
            f"{what.capitalize()}DaemonPod",
            f"Found {what} daemon pod {pod.key} on node {node}, will try to {will} it",
            type="Warning" if failed else "Normal",
            action=f"Delete {pod.metadata.name}",
        )
        if failed:
            self.backoff.record_failure(ctx.request, node)

    def _next(
        self, world: DaemonSetState, spared: Sequence[PodState], refusal: ApiError | None
    ) -> Result | None:
        if refusal is not None:
            return Result(after=RETRY_SECONDS)
        key, seconds = world.daemons.key, world.daemons.spec.min_ready_seconds
        pods = [pod for site in world.sites for pod in site.pods]
        waits = [self.backoff.seconds_left(key, target_node(pod)) for pod in spared]
        ready = next_available(pods, seconds, world.now)
        return Result(after=min([*waits, *([] if ready is None else [ready])], default=None))


async def _observe(ctx: Context[DaemonSet], recorded: Recorded) -> DaemonSetState:
    """The DaemonSet and its pods as they are now."""
    daemons, name = ctx.obj, recorded.revision.metadata.labels.get(HASH, "")
    pods = await claim_children(ctx.client, daemons, daemons.spec.selector, PodState)
    nodes = await ctx.client.list(NodeState)
    return DaemonSetState.of(daemons, nodes, pods, name, ctx.clock.now())


async def _delete_old_revisions(
    world: DaemonSetState, history: Sequence[ControllerRevision], ctx: Context[DaemonSet]
) -> None:
    """Delete the revisions that no pod has and nobody needs."""
    pods = await ctx.owned(PodState)
    alive = {world.hash, *(pod.metadata.labels.get(HASH, "") for pod in pods)}
    limit = world.daemons.spec.revision_history_limit
    for revision in revisions_to_delete(history, alive, limit):
        await ctx.client.delete(revision)
