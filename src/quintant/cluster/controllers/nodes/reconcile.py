"""monitorNodeHealth: the node lifecycle controller: conditions, taints and evictions, every round.

A node that is not heard of becomes Unknown; taints follow from conditions; the pods of a node that
is not ready are not ready either, and leave it when their tolerations run out. If no node at all is
ready, the fault is probably ours, and nobody is driven out.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from quintant.api.core import Taint
from quintant.api.meta import Condition, condition_of, set_condition
from quintant.client.rest import MERGE
from quintant.cluster.common.node_heartbeat import LEASES, HeartbeatTimes
from quintant.cluster.controllers.nodes.health import (
    NodeHealthMap,
    grace_period,
    unreachable_conditions,
)
from quintant.cluster.controllers.nodes.taints import desired_taints, eviction_time
from quintant.cluster.controllers.nodes.views import READY, LeaseState, NodeState, NodeStateStatus
from quintant.cluster.controllers.pods.views import (
    PodState,
    PodStateStatus,
    pod_finished,
    pod_ready,
)
from quintant.core import codec
from quintant.core.clock import monotonic
from quintant.core.errors import Conflict, NotFound
from quintant.core.object import Request
from quintant.core.resource import resource_of
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

NAME = "node-controller"
EVICTION = "taint-eviction-controller"
EVERYBODY = Request("", "nodes")
"""The key of the round; all others are names of nodes."""
ON_NODE = "node"
"""The index of pods by their node."""
_EVICTED = (
    "DeletionByTaintManager",
    "Taint manager: deleting due to NoExecute taint",
)


class NodeLifecycle:
    """Looks after all nodes."""

    def __init__(self, times: HeartbeatTimes = HeartbeatTimes()) -> None:
        self._times, self._signs = times, NodeHealthMap(times)
        self._ready: dict[str, bool] = {}
        """Whether each node was ready when it was last looked at."""
        self._drive = False
        """Whether pods may be driven out: some node is ready."""

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        """Look at one node that has changed, or, every few seconds, at all of them."""
        if request == EVERYBODY:
            return Result(after=await self._round(ctx))
        node = await ctx.client.find(NodeState, request.name)
        if node is not None and not node.deleting:
            self._drive |= node.ready == "True"
            await self._sync_node(node, ctx)
        return None

    async def _round(self, ctx: KeyContext) -> float:
        """Look at all nodes; seconds until the next round."""
        nodes = [node for node in await ctx.client.list(NodeState) if not node.deleting]
        known = {node.metadata.uid for node in nodes}
        self._signs.keep(known)
        self._signs.begin_round(monotonic())
        self._ready = {uid: was for uid, was in self._ready.items() if uid in known}
        self._drive = any(node.ready == "True" for node in nodes)
        waits = [self._times.round]
        for node in nodes:
            try:
                waits.append(await self._sync_node(node, ctx))
            except (NotFound, Conflict):
                # It changed or went meanwhile: the next look sees what it is now.
                continue
        return min(waits)

    async def _sync_node(self, node: NodeState, ctx: KeyContext) -> float:
        """Do what one node needs; seconds until it needs something again."""
        node = await self._update_health(node, ctx)
        wanted = desired_taints(node, ctx.clock.now(), drive=self._drive)
        if wanted != node.spec.taints:
            await self._taint(node, wanted, ctx)
        await self._report_not_ready(node, ctx)
        return await self._evict(node, wanted, ctx)

    async def _update_health(self, node: NodeState, ctx: KeyContext) -> NodeState:
        lease = await ctx.client.find(LeaseState, node.metadata.name, LEASES)
        silent = self._signs.seconds_silent(node, lease, monotonic())
        if silent <= grace_period(node, self._times):
            return node
        conditions = unreachable_conditions(node, ctx.clock.now())
        if all(each in node.status.conditions for each in conditions):
            return node
        return await ctx.client.set_status(node, NodeStateStatus(conditions=conditions))

    async def _taint(self, node: NodeState, taints: Sequence[Taint], ctx: KeyContext) -> None:
        change = {
            "metadata": {"resourceVersion": node.metadata.resource_version},
            "spec": {"taints": taints},
        }
        path = resource_of(NodeState).path(name=node.metadata.name)
        query = f"fieldManager={ctx.client.manager}"
        body, headers = codec.encode(change), {"content-type": MERGE}
        await ctx.client.raw("PATCH", f"{path}?{query}", body=body, headers=headers)

    async def _report_not_ready(self, node: NodeState, ctx: KeyContext) -> None:
        """Tell, once, that a node is not ready any more, and that its pods are not either."""
        uid, is_ready = node.metadata.uid, node.ready == "True"
        was, self._ready[uid] = self._ready.get(uid, is_ready), is_ready
        if was and not is_ready:
            note = f"Node {node.metadata.name} status is now: NodeNotReady"
            ctx.event(node, "NodeNotReady", note)
        if is_ready or not node.ready:
            return
        for pod in await self._pods(node, ctx):
            if pod_ready(pod) and not pod.deleting:
                await _unready(pod, ctx)

    async def _evict(self, node: NodeState, taints: Sequence[Taint], ctx: KeyContext) -> float:
        """Delete the pods that have to leave; seconds until the next one has to."""
        soonest = self._times.round
        if not any(taint.effect == "NoExecute" for taint in taints):
            return soonest
        now = ctx.clock.now()
        for pod in await self._pods(node, ctx):
            moment = None if pod.deleting else eviction_time(pod.spec.tolerations, taints, now)
            if moment is not None and moment <= now:
                await _evict(pod, ctx, now)
            elif moment is not None:
                soonest = min(soonest, (moment - now).total_seconds())
        return soonest

    async def _pods(self, node: NodeState, ctx: KeyContext) -> Sequence[PodState]:
        found = await ctx.client.list(PodState, index=(ON_NODE, node.metadata.name))
        return [pod for pod in found if not pod_finished(pod)]


async def _unready(pod: PodState, ctx: KeyContext) -> None:
    known = condition_of(pod.status.conditions, READY)
    assert known is not None, "a pod that is ready says so"
    conditions = set_condition(
        (known,),
        READY,
        status=False,
        reason=known.reason,
        message=known.message,
        generation=known.observed_generation,
        now=ctx.clock.now(),
    )
    ctx.event(pod, "NodeNotReady", "Node is not ready", type="Warning")
    await _set_conditions(pod, conditions, ctx, NAME)


async def _evict(pod: PodState, ctx: KeyContext, now: datetime) -> None:
    reason, message = _EVICTED
    conditions = set_condition(
        (), "DisruptionTarget", status=True, reason=reason, message=message, now=now
    )
    ctx.event(pod, "TaintManagerEviction", f"Marking for deletion Pod {pod.key}")
    # Under a name of its own: an apply takes back what the same name applied before.
    await _set_conditions(pod, conditions, ctx, EVICTION)
    await ctx.client.delete(pod)


async def _set_conditions(
    pod: PodState, conditions: tuple[Condition, ...], ctx: KeyContext, manager: str
) -> None:
    try:
        await ctx.client.with_field_manager(manager).set_status(
            pod, PodStateStatus(conditions=conditions)
        )
    except (NotFound, Conflict):
        ctx.log.debug("pod went away", pod=str(pod.key))
