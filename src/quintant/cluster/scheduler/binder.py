"""DefaultBinder: what the scheduler writes: bindings, nodes of claims, conditions, victims."""

from __future__ import annotations

from msgspec import Struct

from quintant.api.meta import Condition, condition_of, set_condition
from quintant.cluster.common.views import ClaimView, PodStatusView, PodView
from quintant.cluster.scheduler.fit_error import FitError
from quintant.cluster.scheduler.preemption import Preemption
from quintant.cluster.scheduler.queue import SCHEDULER, QueuedPodInfo
from quintant.cluster.scheduler.volume_binding import SELECTED_NODE
from quintant.core.errors import Conflict, NotFound
from quintant.core.object import replace
from quintant.runtime.reconcile.context import KeyContext

SCHEDULED = "PodScheduled"
UNSCHEDULABLE = "Unschedulable"
PREEMPTION = f"{SCHEDULER}-preemption"
"""The field manager of what is said of victims: it is never taken back."""
_TARGET, _BY_SCHEDULER = "DisruptionTarget", "PreemptionByScheduler"
_WHY = f"{SCHEDULER}: preempting to accommodate a higher priority pod"


class Placement(Struct, frozen=True):
    """A pod and the node it shall go to."""

    entry: QueuedPodInfo
    node: str
    claims: tuple[ClaimView, ...] = ()
    """Those that have to hear of the node first."""


class Unschedulable(Struct, frozen=True):
    """A pod that no node takes, and why; perhaps others make room for it."""

    entry: QueuedPodInfo
    error: FitError
    preemption: Preemption | None = None


async def bind(pod: PodView, node: str, ctx: KeyContext) -> None:
    """Give a pod its node."""
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod.metadata.name, "uid": pod.metadata.uid},
        "target": {"kind": "Node", "name": node},
    }
    await ctx.client.subresource(pod, "binding").post(binding)
    note = f"Successfully assigned {pod.key} to {node}"
    ctx.event(pod, "Scheduled", note, action="Binding")


async def select_node_for_claims(decision: Placement, ctx: KeyContext) -> None:
    """Tell the claims of a pod for which node their volumes are wanted."""
    for claim in decision.claims:
        notes = {**claim.metadata.annotations, SELECTED_NODE: decision.node}
        if notes != claim.metadata.annotations:
            meta = replace(claim.metadata, annotations=notes)
            await ctx.client.patch(replace(claim, metadata=meta), since=claim)


async def report_unschedulable(unschedulable: Unschedulable, ctx: KeyContext) -> None:
    """Say in a pod's status, and once in an event, why it has no node; have others make room."""
    pod, message = unschedulable.entry.pod_info.pod, unschedulable.error.message
    if unschedulable.entry.last_message != message:
        unschedulable.entry.last_message = message
        ctx.event(pod, "FailedScheduling", message, type="Warning", action="Scheduling")
    if unschedulable.preemption is not None:
        for victim in unschedulable.preemption.victims:
            await _evict(victim.pod, pod, unschedulable.preemption.node, ctx)
    await _report(unschedulable, message, ctx)


async def _report(unschedulable: Unschedulable, message: str, ctx: KeyContext) -> None:
    pod, preemption = unschedulable.entry.pod_info.pod, unschedulable.preemption
    known = condition_of(pod.status.conditions, SCHEDULED)
    unchanged = known is not None and (known.reason, known.message) == (UNSCHEDULABLE, message)
    if unchanged and preemption is None:
        return
    conditions = set_condition(
        (known,) if known is not None else (),
        SCHEDULED,
        status=False,
        reason=UNSCHEDULABLE,
        message=message,
        now=ctx.clock.now(),
    )
    node = preemption.node if preemption is not None else ""
    await _write_status(pod, PodStatusView(conditions=conditions, nominated_node_name=node), ctx)


async def _evict(victim: PodView, pod: PodView, node: str, ctx: KeyContext) -> None:
    conditions: tuple[Condition, ...] = set_condition(
        (), _TARGET, status=True, reason=_BY_SCHEDULER, message=_WHY, now=ctx.clock.now()
    )
    await _write_status(victim, PodStatusView(conditions=conditions), ctx, PREEMPTION)
    note = f"Preempted by pod {pod.metadata.uid} on node {node}"
    ctx.event(victim, "Preempted", note, action="Preempting")
    await ctx.client.delete(victim)


async def _write_status(
    pod: PodView, status: PodStatusView, ctx: KeyContext, manager: str = SCHEDULER
) -> None:
    try:
        await ctx.client.with_field_manager(manager).set_status(pod, status)
    except (NotFound, Conflict):
        ctx.log.debug("pod went away", pod=str(pod.key))
