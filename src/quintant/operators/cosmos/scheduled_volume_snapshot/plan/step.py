"""The states of a ScheduledVolumeSnapshot, and one step from each. Pure.

    WaitingForNext ──time──> FindingCandidate ──> DeletingPod ──> WaitingForPodDeletion ──┐
          ^                        └── deletePod: false ──────────> CreatingSnapshot <────┘
          │                                                                │
    RestoringPod <── ready, failed, overdue ── WaitingForSnapshotCreation <┘

The name of a copy is decided, and written, before the copy is made: what continues after a crash
makes the same one. Whatever happens to a copy, its pod comes back.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from quintant.core import cron
from quintant.core.clock import parse_timestamp, timestamp
from quintant.core.object import replace
from quintant.core.schema.limits import beyond_limits
from quintant.operators.cosmos.api.scheduled_volume_snapshot import (
    LastSnapshot,
    ScheduledVolumeSnapshot,
    SnapshotPhase,
    SnapshotScheduleStatus,
    SnapshotTarget,
)
from quintant.operators.cosmos.builders.instances import to_name
from quintant.operators.cosmos.scheduled_volume_snapshot.builders import build_snapshot
from quintant.operators.cosmos.scheduled_volume_snapshot.observed import SnapshotView
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.actions import SnapshotStep
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.candidate import (
    candidate_of,
    is_own,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.conclusion import RETRY_SECONDS
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.retention import surplus

_MISSING_SECONDS = 30.0
_TIMEOUT_SECONDS = 1800
_MINUTES, _SECONDS = "%Y%m%d%H%M", "%Y%m%d%H%M%S"


def plan(view: SnapshotView) -> SnapshotStep:
    """One step from the state that the status tells."""
    before = _begun(view)
    spec = view.schedule.spec
    if wrong := next(beyond_limits(spec, "spec"), None):
        problem = "SpecInvalid", f"{wrong.field}: {wrong.message}"
        waiting = replace(_to(before, "WaitingForNext"), candidate=None)
        return SnapshotStep(waiting, give_back=view.held, problem=problem)
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


def next_time(schedule: ScheduledVolumeSnapshot, reference: datetime) -> datetime | None:
    """When the next copy is due; ValueError if the schedule makes no sense."""
    return cron.parse(schedule.spec.schedule).after(reference)


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
    message = "VolumeSnapshots are not installed: install the CRDs of the snapshot controller"
    status = replace(_to(before, "MissingCRDs"), candidate=None)
    return SnapshotStep(
        status, give_back=view.held, after=_MISSING_SECONDS, problem=("MissingCRDs", message)
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
        message = "spec.schedule: it means no time in the next years"
        return SnapshotStep(before, problem=("FindNextSnapshotTimeError", message))
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
    node = candidate_of(view)
    if isinstance(node, str):
        reason = "FullNodeNotFound" if view.observed is None else "FindCandidateError"
        return SnapshotStep(before, after=RETRY_SECONDS, problem=(reason, node))
    pod = node.pod
    chosen = SnapshotTarget(
        pod_name=node.name,
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
    if last is None or chosen is None or not is_own(view, chosen):
        return _stay(_to(before, "RestoringPod"))
    if _left(view, last) <= timedelta(0):
        return _failed(before, f"VolumeSnapshot {last.name} could not be made")
    copy = build_snapshot(view.schedule, last.name, chosen)
    return SnapshotStep(_to(before, "WaitingForSnapshotCreation"), create=copy)


def _await_snapshot(view: SnapshotView, before: SnapshotScheduleStatus) -> SnapshotStep:
    last = before.last_snapshot
    if last is None:
        return _stay(_to(before, "RestoringPod"))
    copy = next((each for each in view.snapshots if each.metadata.name == last.name), None)
    copy_status = copy.status if copy is not None else None
    status = replace(before, last_snapshot=replace(last, status=copy_status))
    left = _left(view, last)
    if copy_status is not None and copy_status.ready_to_use:
        done = replace(_to(status, "RestoringPod"), last_success=timestamp(view.now), failures=None)
        return SnapshotStep(done, result="success")
    if copy_status is not None and copy_status.error is not None:
        return _failed(
            status, f"VolumeSnapshot {last.name}: {copy_status.error.message or 'it failed'}"
        )
    if left <= timedelta(0):
        limit = _limit(view).total_seconds()
        return _failed(status, f"VolumeSnapshot {last.name} was not ready within {limit:g} s")
    return _stay(status, after=left.total_seconds())


def _left(view: SnapshotView, last: LastSnapshot) -> timedelta:
    """How long a copy may still take; its pod is away meanwhile."""
    return parse_timestamp(last.started_at) + _limit(view) - view.now


def _limit(view: SnapshotView) -> timedelta:
    return timedelta(seconds=view.schedule.spec.snapshot_timeout_seconds or _TIMEOUT_SECONDS)


def _failed(status: SnapshotScheduleStatus, message: str) -> SnapshotStep:
    failures = (status.failures or 0) + 1
    return SnapshotStep(
        replace(_to(status, "RestoringPod"), failures=failures),
        result="failure",
        problem=("VolumeSnapshotReadyError", message),
    )


def _restore(
    view: SnapshotView, before: SnapshotScheduleStatus, then: SnapshotPhase
) -> SnapshotStep:
    status = replace(_to(before, then), candidate=None)
    return SnapshotStep(status, give_back=view.held)
