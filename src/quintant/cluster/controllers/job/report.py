"""enactJobFinished: the status of a Job after a reconcile: numbers, conditions, its end. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from quintant.api.batch import Job, JobCondition, JobStatus, UncountedTerminatedPods
from quintant.api.meta import condition_of
from quintant.cluster.controllers.job.counting import record_finished_pods
from quintant.cluster.controllers.job.plan import (
    CRITERIA_MET,
    FAILURE_TARGET,
    JobPlan,
    condition,
)
from quintant.cluster.controllers.pods.views import PodState, pod_active, pod_ready, pod_terminating
from quintant.core.clock import timestamp
from quintant.core.object import replace

COMPLETE, FAILED = "Complete", "Failed"
SUSPENDED = "Suspended"
_ENDS = {CRITERIA_MET: COMPLETE, FAILURE_TARGET: FAILED}


class JobReport(Struct, frozen=True):
    """What is to be written of a job, and which pods may go when it is."""

    status: JobStatus
    release: tuple[PodState, ...] = ()
    ended: JobCondition | None = None
    """The condition by which it has ended, if it just has."""
    turned: bool | None = None
    """Whether it was just suspended, or resumed."""


def report(job: Job, pods: Sequence[PodState], plan: JobPlan, now: datetime) -> JobReport:
    """Tell how a job is, after its verdict was carried out."""
    ending = plan.ending
    entry = record_finished_pods(
        job,
        pods,
        ending=ending is not None,
        failing=ending is not None and ending.type == FAILURE_TARGET,
        stopped=plan.delete,
    )
    working = [pod for pod in pods if pod_active(pod)]
    status = replace(
        entry.status,
        active=len(working),
        ready=sum(map(pod_ready, working)),
        terminating=sum(map(pod_terminating, pods)),
        start_time=job.status.start_time or (None if job.spec.suspend else timestamp(now)),
    )
    if ending is None:
        return _with_suspended_condition(job, JobReport(status, entry.release), now)
    known = condition_of(job.status.conditions, ending.type)
    if known is None:
        status = replace(status, conditions=(*status.conditions, ending))
        return JobReport(status, entry.release)
    return _ended(job, JobReport(status, entry.release), ending, now)


def _ended(job: Job, report: JobReport, ending: JobCondition, now: datetime) -> JobReport:
    """The report of a job that has come to its end, if nothing keeps it any more."""
    status = report.status
    # What was noted is counted in a write of its own: a field that is emptied by an apply vanishes,
    # and everybody expects an ended job to say that nothing is left to be counted.
    if report.release or status.active or status.terminating or _has_uncounted_pods(job.status):
        return report
    end = condition(_ENDS[ending.type], ending.reason, ending.message, now)
    status = replace(
        status,
        conditions=(*status.conditions, end),
        completion_time=end.last_transition_time if end.type == COMPLETE else None,
    )
    return msgspec.structs.replace(report, status=status, ended=end)


def _has_uncounted_pods(status: JobStatus) -> bool:
    """Whether pods are noted that are not counted yet."""
    return (
        status.uncounted_terminated_pods or UncountedTerminatedPods()
    ) != UncountedTerminatedPods()


def _with_suspended_condition(job: Job, report: JobReport, now: datetime) -> JobReport:
    """The report of a job, with word of whether it is suspended."""
    status, was = report.status, condition_of(job.status.conditions, SUSPENDED)
    held = was is not None and was.status == "True"
    if bool(job.spec.suspend) == held:
        return report
    if job.spec.suspend:
        new, start = condition(SUSPENDED, "JobSuspended", "Job suspended", now), None
    else:
        new = condition(SUSPENDED, "JobResumed", "Job resumed", now, "False")
        start = timestamp(now)
    kept = tuple(new if each.type == SUSPENDED else each for each in status.conditions)
    status = replace(status, conditions=kept if was else (*kept, new), start_time=start)
    return msgspec.structs.replace(report, status=status, turned=bool(job.spec.suspend))
