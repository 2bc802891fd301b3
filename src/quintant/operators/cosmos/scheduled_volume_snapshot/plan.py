"""The states of a ScheduledVolumeSnapshot, and one step from each. Pure.

    WaitingForNext ──time──> FindingCandidate ──> DeletingPod ──> WaitingForPodDeletion ──┐
          ^                        └── deletePod: false ──────────> CreatingSnapshot <────┘
          │                                                                │
    RestoringPod <── ready, failed, overdue ── WaitingForSnapshotCreation <┘

The name of a copy is decided, and written, before the copy is made: whoever goes on after a crash
makes the same one. Whatever happens to a copy, its pod comes back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from quintant.api.snapshot import (
    VolumeSnapshot,
    VolumeSnapshotSource,
    VolumeSnapshotSpec,
    VolumeSnapshotStatus,
)
from quintant.core import cron
from quintant.core.clock import parse_timestamp, timestamp
from quintant.core.object import ObjectMeta, replace
from quintant.operators.cosmos.api import COMPONENT_LABEL, OURS, SOURCE_LABEL
from quintant.operators.cosmos.builders.instances import to_name
from quintant.operators.cosmos.observe.observed import ChainNode
from quintant.operators.cosmos.plan.health import HEALTHY, with_health
from quintant.operators.cosmos.scheduled_volume_snapshot.api import (
    LastSnapshot,
    ScheduledVolumeSnapshot,
    SnapshotPhase,
    SnapshotScheduleStatus,
    SnapshotTarget,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.observe import SnapshotView, source_of
from quintant.runtime.events.transitions import Transition

COMPONENT = "ScheduledVolumeSnapshot"
RETRY_SECONDS = 10.0
"""Until the next look at what no watch tells of: time that passes, definitions that come."""
_MISSING_SECONDS = 30.0
_MIN_AVAILABLE, _LIMIT, _TIMEOUT_SECONDS = 2, 3, 1800
_MINUTES, _SECONDS = "%Y%m%d%H%M", "%Y%m%d%H%M%S"
REASONS = (
    "MissingCRDs", "FindNextSnapshotTimeError", "FullNodeNotFound", "FindCandidateError",
    "VolumeSnapshotReadyError", "SnapshotWhileRunning", "DeletePodError", "RestorePodError",
    "CreateVolumeSnapshotError", "DeleteOldSnapshotsError",
)  # fmt: skip
"""What is wrong, and told when it begins to be."""
TOLD = tuple(Transition(HEALTHY, status="False", reason=reason) for reason in REASONS)


@dataclass(frozen=True, slots=True)
class SnapshotStep:
    """What is done now, where that leads, and when to look again."""

    status: SnapshotScheduleStatus
    take_away: str = ""
    """The pod to take away; it is looked at once more, under the lock."""
    give_back: bool = False
    """Whether the pod that was taken away is to come back."""
    create: VolumeSnapshot | None = None
    delete: tuple[VolumeSnapshot, ...] = ()
    result: str = ""
    """How a copy ended, to be counted: success or failure."""
    after: float | None = None
    """Seconds until the next look; None leaves it to changes, such as that of the phase."""
    problem: tuple[str, str] = field(default=("", ""))
    """A reason of REASONS, and what to say."""


def step(view: SnapshotView) -> SnapshotStep:
    """One step from the state that the status tells."""
    before = _begun(view)
    spec = view.schedule.spec
    if spec.suspend:
        return _restore(view, before, "Suspended") if before.phase != "Suspended" else _stay(before)
    if not view.served:
        return _missing(view, before)
    if before.phase in (None, "Suspended", "MissingCRDs"):
        before = replace(before, phase="WaitingForNext")
    match before.phase:
        case "FindingCandidate":
            return _find(view, before)
        case "DeletingPod":
            return _take(view, before)
        case "WaitingForPodDeletion":
            return _await_pod(view, before)
        case "CreatingSnapshot":
            return _create(view, before)
        case "WaitingForSnapshotCreation":
            return _await_snapshot(view, before)
        case "RestoringPod":
            return _restore(view, before, "WaitingForNext")
        case _:
            return _wait(view, before)


def with_condition(view: SnapshotView, done: SnapshotStep) -> SnapshotScheduleStatus:
    """The status of a step, with what is wrong as a condition."""
    known, generation = view.status.conditions, view.schedule.metadata.generation
    conditions = with_health(known, done.problem, generation, view.now)
    return replace(done.status, conditions=conditions, status=done.problem[1] or None)


def refused(view: SnapshotView, done: SnapshotStep, reason: str, said: str) -> SnapshotStep:
    """A step that the server refused: tried again where it was, but for copies that stay."""
    if reason == "DeleteOldSnapshotsError":
        return dataclasses.replace(done, problem=(reason, said))
    status = view.status if view.status.phase else done.status
    return SnapshotStep(status, after=RETRY_SECONDS, problem=(reason, said))


def candidate_of(view: SnapshotView) -> ChainNode | str:
    """The node whose volume is copied next; or why there is none."""
    if view.full_node is None:
        return f"there is no CosmosFullNode {view.schedule.spec.full_node_ref.name}"
    spec, nodes = view.schedule.spec, view.full_node.nodes
    wanted = spec.full_node_ref.ordinal
    chosen = [each for each in nodes if wanted is None or each.instance.ordinal == wanted]
    if not spec.delete_pod:
        there = [each for each in chosen if each.pod is not None and each.pod.claim]
        best = sorted(there, key=lambda each: not each.in_sync)
        return best[0] if best else "no instance with a volume is there"
    settled = [each for each in nodes if each.settled(view.now)]
    least = spec.min_available or _MIN_AVAILABLE
    if len(settled) < least:
        return f"{len(settled)} nodes are in sync, and {least} have to be"
    if view.full_node.away:
        return f"{', '.join(sorted(view.full_node.away))} is away for another copy"
    if view.budget < 1:
        return "no further node may be taken away now"
    fit = [each for each in chosen if each in settled and each.pod and each.pod.claim]
    return fit[0] if fit else f"instance {wanted} is not in sync"


def next_time(schedule: ScheduledVolumeSnapshot, reference: datetime) -> datetime | None:
    """When the next copy is due; ValueError if the schedule makes no sense."""
    return cron.parse(schedule.spec.schedule).after(reference)


def surplus(view: SnapshotView) -> tuple[VolumeSnapshot, ...]:
    """The copies beyond those that are kept; what has no time yet is not counted."""
    done = [each for each in view.snapshots if each.status and each.status.creation_time]
    done.sort(key=lambda each: _moment(each.status), reverse=True)
    kept = view.schedule.spec.limit or _LIMIT
    return tuple(each for each in done[kept:] if not each.deleting)


def _begun(view: SnapshotView) -> SnapshotScheduleStatus:
    status = view.status
    return replace(
        status,
        observed_generation=view.schedule.metadata.generation,
        created_at=status.created_at or timestamp(view.now),
    )


def _stay(status: SnapshotScheduleStatus, after: float | None = None) -> SnapshotStep:
    return SnapshotStep(status, after=after)


def _to(status: SnapshotScheduleStatus, phase: SnapshotPhase) -> SnapshotScheduleStatus:
    return replace(status, phase=phase)


def _missing(view: SnapshotView, before: SnapshotScheduleStatus) -> SnapshotStep:
    said = "VolumeSnapshots are not installed: install the CRDs of the snapshot controller"
    status = replace(_to(before, "MissingCRDs"), candidate=None)
    return SnapshotStep(
        status, give_back=view.held, after=_MISSING_SECONDS, problem=("MissingCRDs", said)
    )


def _wait(view: SnapshotView, before: SnapshotScheduleStatus) -> SnapshotStep:
    last = before.last_snapshot
    reference = last.started_at if last is not None else before.created_at or ""
    try:
        due = next_time(view.schedule, parse_timestamp(reference))
    except ValueError as error:
        return SnapshotStep(
            before, problem=("FindNextSnapshotTimeError", f"spec.schedule: {error}")
        )
    if due is None:
        said = "spec.schedule: it means no time in the next years"
        return SnapshotStep(before, problem=("FindNextSnapshotTimeError", said))
    running = ("SnapshotWhileRunning", _RUNNING) if not view.schedule.spec.delete_pod else ("", "")
    old, wait = surplus(view), (due - view.now).total_seconds()
    status = replace(before, next_schedule_time=timestamp(due))
    if wait > 0:
        return SnapshotStep(status, delete=old, after=wait, problem=running)
    return SnapshotStep(_to(status, "FindingCandidate"), delete=old, problem=running)


_RUNNING = (
    "spec.deletePod is false: the node writes while its volume is copied, and the copy is only as "
    "good as after a crash; say true"
)


def _find(view: SnapshotView, before: SnapshotScheduleStatus) -> SnapshotStep:
    found = candidate_of(view)
    if isinstance(found, str):
        reason = "FullNodeNotFound" if view.full_node is None else "FindCandidateError"
        return SnapshotStep(before, after=RETRY_SECONDS, problem=(reason, found))
    pod = found.pod
    chosen = SnapshotTarget(
        pod_name=found.name,
        pvc_name=pod.claim if pod is not None else "",
        pod_labels=dict(pod.metadata.labels) if pod is not None else {},
    )
    status = replace(before, candidate=chosen)
    if view.schedule.spec.delete_pod:
        return _stay(_to(status, "DeletingPod"))
    return _stay(_named(view, status))


def _take(view: SnapshotView, before: SnapshotScheduleStatus) -> SnapshotStep:
    if before.candidate is None:
        return _stay(_to(before, "FindingCandidate"))
    if view.held:
        return _stay(_to(before, "WaitingForPodDeletion"))
    return SnapshotStep(_to(before, "WaitingForPodDeletion"), take_away=before.candidate.pod_name)


def _await_pod(view: SnapshotView, before: SnapshotScheduleStatus) -> SnapshotStep:
    if not view.held:
        return _stay(_to(before, "RestoringPod"))
    if not view.pod_gone:
        return _stay(before, after=RETRY_SECONDS)
    return _stay(_named(view, before))


def _named(view: SnapshotView, before: SnapshotScheduleStatus) -> SnapshotScheduleStatus:
    """The copy that is to be made, by name: after a crash it is made under the same."""
    name = _copy_name(view, _MINUTES)
    if any(each.metadata.name == name for each in view.snapshots):
        name = _copy_name(view, _SECONDS)  # of a schedule that is quicker than minutes
    begun = LastSnapshot(name=name, started_at=timestamp(view.now))
    return replace(_to(before, "CreatingSnapshot"), last_snapshot=begun)


def _copy_name(view: SnapshotView, form: str) -> str:
    return to_name(f"{view.schedule.metadata.name}-{view.now.strftime(form)}")


def _create(view: SnapshotView, before: SnapshotScheduleStatus) -> SnapshotStep:
    last, chosen = before.last_snapshot, before.candidate
    if last is None or chosen is None or not chosen.pvc_name:
        return _stay(_to(before, "RestoringPod"))
    if _left(view, last) <= timedelta(0):
        return _failed(before, f"VolumeSnapshot {last.name} could not be made")
    copy = build_snapshot(view.schedule, last.name, chosen)
    return SnapshotStep(_to(before, "WaitingForSnapshotCreation"), create=copy)


def build_snapshot(
    schedule: ScheduledVolumeSnapshot, name: str, chosen: SnapshotTarget
) -> VolumeSnapshot:
    """A copy of a volume; it belongs to nobody, so that it outlives what it is a copy of."""
    labels: Mapping[str, str] = {
        **chosen.pod_labels,
        **OURS,
        COMPONENT_LABEL: COMPONENT,
        SOURCE_LABEL: source_of(schedule),
    }
    return VolumeSnapshot(
        metadata=ObjectMeta(name=name, namespace=schedule.metadata.namespace, labels=labels),
        spec=VolumeSnapshotSpec(
            source=VolumeSnapshotSource(persistent_volume_claim_name=chosen.pvc_name),
            volume_snapshot_class_name=schedule.spec.volume_snapshot_class_name,
        ),
    )


def _await_snapshot(view: SnapshotView, before: SnapshotScheduleStatus) -> SnapshotStep:
    last = before.last_snapshot
    if last is None:
        return _stay(_to(before, "RestoringPod"))
    found = next((each for each in view.snapshots if each.metadata.name == last.name), None)
    told = found.status if found is not None else None
    status = replace(before, last_snapshot=replace(last, status=told))
    left = _left(view, last)
    if told is not None and told.ready_to_use:
        done = replace(_to(status, "RestoringPod"), last_success=timestamp(view.now), failures=None)
        return SnapshotStep(done, result="success")
    if told is not None and told.error is not None:
        return _failed(status, f"VolumeSnapshot {last.name}: {told.error.message or 'it failed'}")
    if left <= timedelta(0):
        limit = _limit(view).total_seconds()
        return _failed(status, f"VolumeSnapshot {last.name} was not ready within {limit:g} s")
    return _stay(status, after=left.total_seconds())


def _left(view: SnapshotView, last: LastSnapshot) -> timedelta:
    """How long a copy may still take; its pod is away meanwhile."""
    return parse_timestamp(last.started_at) + _limit(view) - view.now


def _limit(view: SnapshotView) -> timedelta:
    return timedelta(seconds=view.schedule.spec.snapshot_timeout_seconds or _TIMEOUT_SECONDS)


def _failed(status: SnapshotScheduleStatus, said: str) -> SnapshotStep:
    failures = (status.failures or 0) + 1
    return SnapshotStep(
        replace(_to(status, "RestoringPod"), failures=failures),
        result="failure",
        problem=("VolumeSnapshotReadyError", said),
    )


def _restore(
    view: SnapshotView, before: SnapshotScheduleStatus, then: SnapshotPhase
) -> SnapshotStep:
    status = replace(_to(before, then), candidate=None)
    return SnapshotStep(status, give_back=view.held)


def _moment(status: VolumeSnapshotStatus | None) -> str:
    return (status.creation_time if status is not None else None) or ""
