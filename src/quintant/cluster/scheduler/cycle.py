"""ScheduleOne, schedulingCycle: rounds in which pods without a node are given one.

One key, so one round at a time: read the caches, decide for every pod whose turn it is (pure; each
decision counts for the next), then bind them. A pod that no node takes is told so in its status
and in an event, and waits. A pod whose volumes wait for a node is bound when they are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import islice

from msgspec.structs import replace

from quintant.api.core import Namespace
from quintant.api.storage import StorageClass
from quintant.cluster.common.taints import matches_any_term
from quintant.cluster.common.views import ClaimView, NodeView, PersistentVolumeView, PodView
from quintant.cluster.scheduler.binder import (
    Placement,
    Unschedulable,
    bind,
    report_unschedulable,
    select_node_for_claims,
)
from quintant.cluster.scheduler.filter import NodeFilter
from quintant.cluster.scheduler.fit_error import FitError
from quintant.cluster.scheduler.pod_info import Locate, VolumeTopology
from quintant.cluster.scheduler.preemption import preempt
from quintant.cluster.scheduler.queue import QueuedPodInfo, SchedulingQueue
from quintant.cluster.scheduler.score import select_host
from quintant.cluster.scheduler.snapshot import NodeSnapshot
from quintant.cluster.scheduler.volume_binding import (
    PodVolumeClaims,
    StorageLister,
    find_pod_claims,
)
from quintant.core.clock import Random, monotonic
from quintant.core.errors import Conflict, NotFound, QuintantError
from quintant.core.object import Metadata, Request
from quintant.runtime.cache.caches import Caches
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

ROUND = 64
"""Pods decided on before anything else has its turn."""
BINDINGS = 16
"""Pods bound at once."""


class Scheduler:
    """Gives pods nodes."""

    def __init__(self, locate: Locate) -> None:
        self.snapshot: NodeSnapshot = NodeSnapshot()
        self.filter: NodeFilter = NodeFilter(self.snapshot)
        self.queue: SchedulingQueue = SchedulingQueue(locate)
        self._stored: dict[str, str] = {}

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        self._sync_caches(ctx)
        storage = _storage(ctx)
        turn = self.queue.ready(monotonic(), self.snapshot.move_cycle)
        decided = [self.schedule_pod(entry, storage, ctx.random) for entry in islice(turn, ROUND)]
        await self._act(decided, ctx)
        if len(turn) > ROUND:
            return Result(after=0.0)
        return Result(after=self.queue.next_delay(monotonic(), self.snapshot.move_cycle))

    def schedule_pod(
        self, entry: QueuedPodInfo, storage: StorageLister, random: Random
    ) -> Placement | Unschedulable | None:
        """A node for a pod, counted as taken; why there is none; or None while others leave it."""
        uid = entry.pod_info.pod.metadata.uid
        claims, held = find_pod_claims(entry.pod_info.pod, storage), self.snapshot.node_of(uid)
        if held and not claims.reason and self._volumes_reach(held, claims.topology):
            if any(self.snapshot.node_of(each) == held for each in entry.victims):
                entry.wait_for_event(monotonic(), self.snapshot.move_cycle)
                return None
            return Placement(entry, held, claims.unbound)
        if held:
            self.snapshot.forget(uid)
        entry.victims = ()
        if claims.reason:
            return self._refused(
                entry, FitError(len(self.snapshot.nodes), pre_filter=claims.reason)
            )
        return self._schedule_pod(entry, claims, random)

    def _schedule_pod(
        self, entry: QueuedPodInfo, claims: PodVolumeClaims, random: Random
    ) -> Placement | Unschedulable:
        pod_info, result = (
            entry.pod_info,
            self.filter.feasible_nodes(entry.pod_info, claims.topology),
        )
        if not result.nodes:
            why = FitError(len(self.snapshot.nodes), result.reasons, result.unresolvable)
            return self._preempt(entry, claims.topology, self._refused(entry, why))
        info = select_host(self.snapshot, pod_info, result.nodes, random)
        self.snapshot.assume(pod_info.pod, pod_info.request, info.name)
        self.queue.move_affinity_pods(self.snapshot.move_cycle)
        return Placement(entry, info.name, claims.unbound)

    def _preempt(
        self, entry: QueuedPodInfo, volume_topology: VolumeTopology, unschedulable: Unschedulable
    ) -> Unschedulable:
        """Have less important pods leave, if that helps; the place is kept for this one."""
        found = preempt(
            entry.pod_info, self.filter.preemption_candidates(entry.pod_info, volume_topology)
        )
        if found is None:
            return unschedulable
        entry.victims = tuple(each.pod.metadata.uid for each in found.victims)
        entry.wait_for_event(monotonic(), self.snapshot.move_cycle)
        self.snapshot.assume(entry.pod_info.pod, entry.pod_info.request, found.node)
        return Unschedulable(entry, replace(unschedulable.error, preempts=True), found)

    def _refused(self, entry: QueuedPodInfo, why: FitError) -> Unschedulable:
        entry.back_off(monotonic(), self.snapshot.move_cycle)
        return Unschedulable(entry, why)

    def _volumes_reach(self, name: str, volume_topology: VolumeTopology) -> bool:
        info = self.snapshot.infos.get(name)
        node = info.node if info is not None else None
        return node is not None and all(
            matches_any_term(terms, node) for terms in volume_topology.terms
        )

    def _sync_caches(self, ctx: KeyContext) -> None:
        """Take in the caches as they are: a list through the client would copy them."""
        caches = _caches(ctx)
        pods = list(caches.informer_for(PodView).store)
        self.snapshot.sync(
            caches.informer_for(NodeView).store,
            pods,
            caches.informer_for(Metadata[Namespace]).store,
        )
        self.queue.sync(pods)
        stored = {
            obj.metadata.uid: obj.metadata.resource_version
            for kind in (ClaimView, PersistentVolumeView, StorageClass)
            for obj in caches.informer_for(kind).store
        }
        if stored != self._stored:
            self._stored = stored
            self.snapshot.move_cycle += 1

    async def _act(
        self, decided: Iterable[Placement | Unschedulable | None], ctx: KeyContext
    ) -> None:
        work = iter([self._carry_out(each, ctx) for each in decided if each is not None])
        while some := list(islice(work, BINDINGS)):
            async with asyncio.TaskGroup() as group:
                for each in some:
                    group.create_task(each)

    async def _carry_out(self, decision: Placement | Unschedulable, ctx: KeyContext) -> None:
        entry, pod = decision.entry, decision.entry.pod_info.pod
        try:
            if isinstance(decision, Unschedulable):
                await report_unschedulable(decision, ctx)
            elif decision.claims:
                entry.wait_for_event(monotonic(), self.snapshot.move_cycle)
                await select_node_for_claims(decision, ctx)
            else:
                await bind(pod, decision.node, ctx)
                entry.bound = True
        except (NotFound, Conflict):
            # It is gone, or somebody else was faster: the watch will say which.
            self._requeue(entry)
        except QuintantError as error:
            self._requeue(entry)
            ctx.log.warning("scheduling failed", pod=str(pod.key), why=str(error))

    def _requeue(self, entry: QueuedPodInfo) -> None:
        """Take back what was decided, and try again in a while."""
        self.snapshot.forget(entry.pod_info.pod.metadata.uid)
        entry.back_off(monotonic(), self.snapshot.move_cycle - 1)


def _storage(ctx: KeyContext) -> StorageLister:
    caches = _caches(ctx)
    return StorageLister(
        caches.informer_for(ClaimView).get,
        caches.informer_for(PersistentVolumeView).get,
        caches.informer_for(StorageClass).get,
    )


def _caches(ctx: KeyContext) -> Caches:
    assert ctx.client.caches is not None, "a reconciler's client has caches"
    return ctx.client.caches
