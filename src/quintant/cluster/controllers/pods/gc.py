"""PodGCController, gcOrphaned: pods of lost nodes, and old ones that ended, are deleted.

Those of a node that is gone, those that wait to be deleted without ever having had a node or on a
node that is out of service, and the oldest of those that have ended, if there are too many.
`pods_to_collect` is pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct

from quintant.api.meta import set_condition
from quintant.cluster.controllers.nodes.taints import OUT_OF_SERVICE
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.cluster.controllers.pods.views import PodState, PodStateStatus, pod_finished
from quintant.core.clock import monotonic
from quintant.core.errors import Conflict, NotFound
from quintant.core.object import Object, Request
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

NAME = "pod-garbage-collector"
PERIOD_SECONDS = 20.0
"""How often pods are looked at, as in a real cluster."""
QUARANTINE_SECONDS = 40.0
"""How long a node may be missing before its pods are given up."""
ENDED_LIMIT = 12_500
"""Pods that have ended and are kept, at most."""
_ALL = (Request("pods"),)
_ORPHANED = ("DeletionByPodGC", "PodGC: node no longer exists")


class CollectedPod(Struct, frozen=True):
    """A pod to be deleted at once."""

    pod: PodState
    orphaned: bool = False


def declare(manager: Manager) -> None:
    """Add the collector of pods to a manager."""
    (
        manager.keyed(NAME)
        .watches(NodeState, to=_all, when=lambda old, new: old is None or new is None)
        .watches(PodState, to=lambda pod: ())
        .uses(PodState, "delete")
        .uses(PodState, "patch", sub="status")
        .workers(1)
        .reconcile(PodGarbageCollector())
    )


class PodGarbageCollector:
    """Looks for pods to be collected."""

    def __init__(self) -> None:
        self._missing: dict[str, float] = {}
        """Since when each node has been missing that pods are on."""

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        nodes = {node.metadata.name: node for node in await ctx.client.list(NodeState)}
        pods = await ctx.client.list(PodState)
        for each in pods_to_collect(pods, nodes, self._gone(pods, nodes)):
            await _delete(each, ctx)
        return Result(after=PERIOD_SECONDS)

    def _gone(self, pods: Iterable[PodState], nodes: Mapping[str, NodeState]) -> set[str]:
        """The nodes that have been missing for too long."""
        named = {pod.spec.node_name for pod in pods} - nodes.keys() - {""}
        now = monotonic()
        self._missing = {name: self._missing.get(name, now) for name in named}
        limit = now - QUARANTINE_SECONDS
        return {name for name, since in self._missing.items() if since <= limit}


def pods_to_collect(
    pods: Iterable[PodState],
    nodes: Mapping[str, NodeState],
    gone: set[str],
    limit: int = ENDED_LIMIT,
) -> list[CollectedPod]:
    """The pods that nobody looks after."""
    pods = list(pods)
    orphaned = [CollectedPod(pod, orphaned=True) for pod in pods if pod.spec.node_name in gone]
    forsaken = [CollectedPod(pod) for pod in pods if pod.deleting and _is_forsaken(pod, nodes)]
    ended = sorted(
        (pod for pod in pods if pod_finished(pod) and pod.spec.node_name not in gone),
        key=lambda pod: (pod.metadata.creation_timestamp or "", pod.metadata.name),
    )
    return orphaned + forsaken + [CollectedPod(pod) for pod in ended[: max(0, len(ended) - limit)]]


def _is_forsaken(pod: PodState, nodes: Mapping[str, NodeState]) -> bool:
    """Whether nobody will carry out the deletion of a pod."""
    if not pod.spec.node_name:
        return True
    node = nodes.get(pod.spec.node_name)
    if node is None or node.ready == "True":
        return False
    return any(taint.key == OUT_OF_SERVICE for taint in node.spec.taints)


async def _delete(each: CollectedPod, ctx: KeyContext) -> None:
    """Delete a pod at once; one that has not ended has failed."""
    pod = each.pod
    try:
        if not pod_finished(pod):
            await ctx.client.set_status(pod, _failed(each, ctx.clock.now()))
        await ctx.client.delete(pod, grace=0)
    except (NotFound, Conflict):
        ctx.log.debug("pod went away", pod=str(pod.key))


def _failed(each: CollectedPod, now: datetime) -> PodStateStatus:
    if not each.orphaned:
        return PodStateStatus(phase="Failed")
    reason, message = _ORPHANED
    conditions = set_condition(
        (), "DisruptionTarget", status=True, reason=reason, message=message, now=now
    )
    return PodStateStatus(phase="Failed", conditions=conditions)


def _all(obj: Object) -> Iterable[Request]:
    return _ALL
