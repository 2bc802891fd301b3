"""What is reported of a step: where it led, what is wrong, and when to look again. Pure."""

from __future__ import annotations

import dataclasses

from quintant.api.snapshot import VolumeSnapshot
from quintant.core.errors import Conflict, Status
from quintant.core.object import replace
from quintant.operators.cosmos.api.scheduled_volume_snapshot import (
    ScheduledVolumeSnapshot,
    SnapshotScheduleStatus,
)
from quintant.operators.cosmos.plan.health import HEALTHY, with_health
from quintant.operators.cosmos.scheduled_volume_snapshot.observed import (
    SnapshotOutcome,
    SnapshotView,
    phase_of,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.actions import (
    DeleteSnapshot,
    SnapshotStep,
)
from quintant.runtime.events.transitions import Transition, transition_events
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.result import Result

RETRY_SECONDS = 10.0
"""Until the next look at what no watch reports: time that passes, definitions that come."""
REASONS = (
    "MissingCRDs", "FindNextSnapshotTimeError", "FullNodeNotFound", "FindCandidateError",
    "VolumeSnapshotReadyError", "SnapshotWhileRunning", "DeletePodError", "RestorePodError",
    "CreateVolumeSnapshotError", "DeleteOldSnapshotsError",
)  # fmt: skip
"""What is wrong, and reported when it begins to be."""
TRANSITIONS = tuple(Transition(HEALTHY, status="False", reason=reason) for reason in REASONS)


def step_after(view: SnapshotView, step: SnapshotStep, outcome: SnapshotOutcome) -> SnapshotStep:
    """The step that it came to, by what became of its actions."""
    if outcome.lost:
        return SnapshotStep(replace(step.status, phase="FindingCandidate"))
    if outcome.refusal is not None:
        return _refused(view, step, outcome.refusal)
    return step


def conclude(view: SnapshotView, done: SnapshotStep) -> Conclusion[SnapshotScheduleStatus]:
    """What follows; Conflict while it is written if the schedule went on without us."""
    known, schedule = view.status.conditions, view.schedule
    conditions = with_health(known, done.problem, schedule.metadata.generation, view.now)
    after = replace(done.status, conditions=conditions, status=done.problem[1] or None)

    def change(now: SnapshotScheduleStatus | None) -> SnapshotScheduleStatus:
        check_phase(schedule, now)
        return after

    return Conclusion(
        status=after,
        change=change,
        events=tuple(transition_events(known, conditions, TRANSITIONS)),
        again=None if done.after is None else Result(after=done.after),
    )


def check_live(schedule: ScheduledVolumeSnapshot, live: ScheduledVolumeSnapshot | None) -> None:
    """Raise Conflict if the server has another schedule, or this one in another phase."""
    if live is None or live.metadata.uid != schedule.metadata.uid:
        raise _behind(schedule)
    check_phase(schedule, live.status)


def check_phase(schedule: ScheduledVolumeSnapshot, now: SnapshotScheduleStatus | None) -> None:
    """Raise Conflict if a newer status is in another phase than ours."""
    if phase_of(replace(schedule, status=now)) != phase_of(schedule):
        raise _behind(schedule)


def is_same_copy(live: VolumeSnapshot | None, wanted: VolumeSnapshot) -> bool:
    """Whether a copy that exists is the one we made before a crash: it is of the same volume."""
    return live is None or live.spec.source == wanted.spec.source


def _refused(view: SnapshotView, step: SnapshotStep, refusal: tuple[str, str]) -> SnapshotStep:
    """A step that the server refused: tried again where it was, but for copies that stay."""
    if refusal[0] == DeleteSnapshot.refusal:
        return dataclasses.replace(step, problem=refusal)
    status = view.status if view.status.phase else step.status
    return SnapshotStep(status, after=RETRY_SECONDS, problem=refusal)


def _behind(schedule: ScheduledVolumeSnapshot) -> Conflict:
    message = f"ScheduledVolumeSnapshot {schedule.key} went on, and our cache is behind"
    return Conflict(Status(code=409, reason="Conflict", message=message))
