"""What a StatefulJob does next. Pure.

a job runs or ended   what became of it goes into the status; the job goes when its time is over
no job, a volume      the volume of the last job goes, too
no job, not due       nothing until it is
no job, due           a volume from the newest copy that is ready, and a job on it
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from quintant.api.batch import Job, JobStatus
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.clock import parse_timestamp, timestamp
from quintant.core.object import replace
from quintant.core.owner import owned
from quintant.core.schema.limits import beyond_limits
from quintant.operators.cosmos.api.chain import YEAR_SECONDS
from quintant.operators.cosmos.api.stateful_job import MOST_HISTORY, StatefulJobStatus
from quintant.operators.cosmos.builders.pvc_builder import newest_snapshot
from quintant.operators.cosmos.plan.health import HEALTHY, with_health
from quintant.operators.cosmos.stateful_job.builders import build_claim, build_job
from quintant.operators.cosmos.stateful_job.observed import JobView
from quintant.runtime.events.transitions import Transition, transition_events
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.result import Result

TRANSITIONS = (Transition(HEALTHY, status="False", event="Error"),)
DAY = timedelta(hours=24)
POD_PATIENCE = timedelta(seconds=60)
"""How long a job may be without a pod."""
LOOK_SECONDS = 60.0
"""How often is looked again for what no watch reports."""
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|us|ns|s|m|h)")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@dataclass(frozen=True, slots=True)
class JobStep:
    """What is done now, and what is reported."""

    status: StatefulJobStatus
    remove: PersistentVolumeClaim | None = None
    claim: PersistentVolumeClaim | None = None
    job: Job | None = None
    after: float | None = LOOK_SECONDS
    problem: tuple[str, str] = ("", "")
    """A reason, and what to say."""

    @property
    def create(self) -> tuple[PersistentVolumeClaim | Job, ...]:
        """What is made, in this order: a job waits for its volume."""
        return tuple(each for each in (self.claim, self.job) if each is not None)


def plan(view: JobView) -> JobStep:
    """What to do about a StatefulJob now."""
    before = replace(view.status, observed_generation=view.owner.metadata.generation)
    if wrong := next(beyond_limits(view.owner.spec, "spec"), None):
        return _wrong(before, "SpecInvalid", f"{wrong.field}: {wrong.message}")
    if view.taken:
        return _wrong(before, "NameTaken", f"{view.taken} exists and is somebody else's")
    if view.job is not None:
        return _ran(view, before, view.job)
    try:
        due = _due(view, before)
    except ValueError as error:
        return _wrong(before, "IntervalInvalid", f"spec.interval: {error}")
    if view.claim is not None and not _fresh(view, before):
        remove = None if view.claim.deleting else view.claim
        return JobStep(before, remove=remove, after=5.0)
    left = (due - view.now).total_seconds()
    if left > 0:
        return JobStep(before, after=min(left, LOOK_SECONDS))
    return _start(view, before)


def conclude(view: JobView, step: JobStep, refusal: str) -> Conclusion[StatefulJobStatus]:
    """What follows from a step; `refusal` is what the server answered, if it refused one."""
    done = JobStep(view.status, problem=("Refused", refusal)) if refusal else step
    after = _with_condition(view, done)
    return Conclusion(
        status=after,
        change=lambda _: after,
        events=tuple(transition_events(view.status.conditions, after.conditions, TRANSITIONS)),
        again=None if done.after is None else Result(after=done.after),
    )


def _with_condition(view: JobView, done: JobStep) -> StatefulJobStatus:
    """The status of a step, with what is wrong as a condition."""
    known, generation = view.status.conditions, view.owner.metadata.generation
    conditions = with_health(known, done.problem, generation, view.now)
    return replace(done.status, conditions=conditions, status=done.problem[1] or None)


def parse_interval(text: str | None) -> timedelta:
    """An interval as Go writes it, such as 1h30m; ValueError if it is none."""
    if text is None:
        return DAY
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is no duration such as 24h or 1h30m")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if seconds > YEAR_SECONDS:
        raise ValueError("it is longer than a year")
    return timedelta(seconds=seconds)


def _wrong(status: StatefulJobStatus, reason: str, message: str) -> JobStep:
    return JobStep(status, problem=(reason, message))


def _due(view: JobView, before: StatefulJobStatus) -> datetime:
    interval, last = parse_interval(view.owner.spec.interval), before.job_history[:1]
    begun = before.last_started or (last[0].start_time if last else None)
    return parse_timestamp(begun) + interval if begun else view.now


def _fresh(view: JobView, before: StatefulJobStatus) -> bool:
    """Whether a volume was made for the job that comes: we were ended between the two."""
    claim = view.claim
    if claim is None or claim.deleting:
        return False
    made = claim.metadata.creation_timestamp or ""
    return before.last_started is None or made > before.last_started


def _ran(view: JobView, before: StatefulJobStatus, job: Job) -> JobStep:
    history = (job.status, *before.job_history[1:])
    begun = before.last_started or job.metadata.creation_timestamp
    status = replace(before, job_history=history, last_started=begun)
    if job.outcome == "Failed":
        failed = [each for each in job.status.conditions if each.type == "Failed"]
        message = failed[0].message if failed else ""
        return _wrong(status, "JobFailed", f"Job {job.metadata.name} failed: {message}")
    if _lacks_pods(job, view.now):
        name = job.metadata.name
        message = f"Job {name} has no pod, which the server may refuse: kubectl describe job {name}"
        return _wrong(status, "JobWithoutPod", message)
    return JobStep(status)


def _lacks_pods(job: Job, now: datetime) -> bool:
    """Whether a job that has not ended got no pod for a while."""
    made, status = job.metadata.creation_timestamp, job.status
    if job.outcome or made is None or status.active or status.failed or status.succeeded:
        return False
    return now - parse_timestamp(made) >= POD_PATIENCE


def _start(view: JobView, before: StatefulJobStatus) -> JobStep:
    if not view.served:
        return _wrong(before, "MissingCRDs", "VolumeSnapshots are not installed")
    owner = view.owner
    snapshot = newest_snapshot(view.snapshots, dict(owner.spec.selector))
    size = snapshot.status.restore_size if snapshot is not None and snapshot.status else None
    if view.claim is None and (snapshot is None or size is None):
        wanted = ", ".join(f"{key}={value}" for key, value in sorted(owner.spec.selector.items()))
        return _wrong(before, "NoSnapshot", f"no VolumeSnapshot with {wanted} is ready")
    claim = None
    if view.claim is None and snapshot is not None and size is not None:
        claim = owned(build_claim(owner, snapshot, size), by=owner)
    history = (JobStatus(), *before.job_history)[:MOST_HISTORY]
    status = replace(before, job_history=history, last_started=timestamp(view.now))
    return JobStep(status, claim=claim, job=owned(build_job(owner), by=owner), after=None)
