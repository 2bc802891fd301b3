"""manageJob: what a Job needs now: pods to create or to delete, or its end. Pure.

An end is announced by a condition (SuccessCriteriaMet, FailureTarget) and comes later, when every
pod is counted and gone (`report`). Once announced, it does not change any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

import msgspec
from msgspec import Struct

from quintant.api.batch import Job, JobCondition, JobSpec
from quintant.api.meta import condition_of
from quintant.cluster.controllers.job import attempts, backoff, indexes
from quintant.cluster.controllers.job.counting import PodCounts, count_pods
from quintant.cluster.controllers.job.policy import match_pod_failure_policy, match_success_policy
from quintant.cluster.controllers.job.traits import (
    SUCCEEDED,
    is_indexed,
    is_pod_failed,
    replaces_only_failed,
)
from quintant.cluster.controllers.pods.templates import parse_template
from quintant.cluster.controllers.pods.views import (
    PodState,
    parse_time,
    pod_active,
    pod_ready,
    pod_terminating,
)
from quintant.cluster.controllers.replicaset.ranking import pods_to_delete
from quintant.cluster.controllers.slow_start import BURST
from quintant.core.clock import timestamp
from quintant.core.object import Model, Opaque

CRITERIA_MET, FAILURE_TARGET = "SuccessCriteriaMet", "FailureTarget"
"""The conditions that announce how a job will end."""
LIMIT = 6
"""Failures that a job survives unless it says otherwise."""


class PodSlot(Struct, frozen=True):
    """What a pod is to be made for: an index, if it has one, and what it takes over."""

    index: int | None = None
    marks: Mapping[str, str] = msgspec.field(default_factory=dict)


class JobPlan(Struct, frozen=True):
    """What is to be done about a job's pods."""

    ending: JobCondition | None = None
    """How the job will end, if it will."""
    delete: tuple[PodState, ...] = ()
    forgiven: bool = False
    """Whether the deleted pods do not count as failed."""
    create: tuple[PodSlot, ...] = ()
    """The pods to make."""
    after: float | None = None
    """In how many seconds to look again, if nothing happens before."""


class _Restart(Model):
    restart_policy: str = ""


def plan_job(job: Job, pods: Sequence[PodState], now: datetime) -> JobPlan:
    """Decide how a job goes on."""
    sum_, working = count_pods(job, pods), [pod for pod in pods if pod_active(pod)]
    ending = _ending(job, pods, sum_, now)
    if ending is not None:
        return JobPlan(ending, delete=tuple(working))
    if job.spec.suspend:
        return JobPlan(delete=tuple(working), forgiven=True)
    decided = _managed(job, pods, sum_, now)
    if sum_.succeeded >= _needed(job.spec) and len(working) == len(decided.delete):
        message = "Reached expected number of succeeded pods"
        ending = condition(CRITERIA_MET, "CompletionsReached", message, now)
        return msgspec.structs.replace(decided, ending=ending)
    waits = [wait for wait in (decided.after, _deadline(job, now)) if wait is not None]
    return msgspec.structs.replace(decided, after=min(waits, default=None))


def condition(
    type: str, reason: str, message: str, now: datetime, status: str = "True"
) -> JobCondition:
    """A condition that holds from now on."""
    time = timestamp(now)
    return JobCondition(
        type=type,
        status=status,
        reason=reason,
        message=message,
        last_probe_time=time,
        last_transition_time=time,
    )


def _ending(
    job: Job, pods: Sequence[PodState], sum_: PodCounts, now: datetime
) -> JobCondition | None:
    """How a job ends that has not come to its completions: as it was said before, or by failure."""
    for type in (CRITERIA_MET, FAILURE_TARGET):
        known = condition_of(job.status.conditions, type)
        if isinstance(known, JobCondition) and known.status == "True":
            return known
    spec = job.spec
    reasons = (
        match_pod_failure_policy(spec, pod).failure for pod in pods if is_pod_failed(spec, pod)
    )
    failure = next(filter(None, reasons), "")
    if failure:
        return condition(FAILURE_TARGET, "PodFailurePolicy", failure, now)
    if sum_.failed > _limit(spec) or _restarted_too_often(job, pods):
        message = "Job has reached the specified backoff limit"
        return condition(FAILURE_TARGET, "BackoffLimitExceeded", message, now)
    left = _deadline(job, now)
    if left is not None and left <= 0:
        message = "Job was active longer than specified deadline"
        return condition(FAILURE_TARGET, "DeadlineExceeded", message, now)
    doomed = _index_failure(spec, sum_)
    if doomed is not None:
        return condition(FAILURE_TARGET, *doomed, now)
    enough = match_success_policy(spec, sum_.indexes) if is_indexed(spec) else ""
    return condition(CRITERIA_MET, "SuccessPolicy", enough, now) if enough else None


def _index_failure(spec: JobSpec, sum_: PodCounts) -> tuple[str, str] | None:
    """Why a job fails by its failed indexes: reason and message."""
    limit, failed = spec.max_failed_indexes, len(sum_.lost)
    if limit is not None and failed > limit:
        message = "Job has exceeded the specified maximal number of failed indexes"
        return "MaxFailedIndexesExceeded", message
    if failed and failed + len(sum_.indexes) >= (spec.completions or 0):
        return "FailedIndexes", "Job has failed indexes"
    return None


def _managed(job: Job, pods: Sequence[PodState], sum_: PodCounts, now: datetime) -> JobPlan:
    """The pods that are too many, or those that are missing."""
    spec, working = job.spec, [pod for pod in pods if pod_active(pod)]
    wanted = _wanted(spec, sum_, len(working))
    doomed = _pods_to_delete(spec, working, len(working) - wanted, now)
    if doomed:
        return JobPlan(delete=tuple(doomed[:BURST]), forgiven=True)
    going = [pod for pod in pods if pod_terminating(pod)] if replaces_only_failed(spec) else []
    missing = wanted - len(working) - len(going)
    if missing <= 0:
        return JobPlan()
    missing = min(missing, BURST)
    if attempts.has_index_backoff(spec):
        return _next_attempts(job, pods, sum_, missing, now)
    wait = _pause(spec, pods, now)
    if wait > 0:
        return JobPlan(after=wait)
    if not is_indexed(spec):
        return JobPlan(create=(PodSlot(),) * missing)
    return JobPlan(create=tuple(map(PodSlot, islice(_pending(job, pods, sum_), missing))))


def _next_attempts(
    job: Job, pods: Sequence[PodState], sum_: PodCounts, missing: int, now: datetime
) -> JobPlan:
    """Pods for the indexes that need not wait, or word of when the first need not."""
    last = attempts.indexes_to_retry(job, pods, sum_.indexes | sum_.lost)
    wanted = list(islice(_pending(job, pods, sum_), missing))
    waits = {index: attempts.index_backoff(last.get(index), now) for index in wanted}
    due = [index for index in wanted if not waits[index]]
    if not due:
        return JobPlan(after=min(waits.values(), default=None))
    places = (
        PodSlot(index, attempts.retry_annotations(job.spec, last.get(index))) for index in due
    )
    return JobPlan(create=tuple(places))


def _wanted(spec: JobSpec, sum_: PodCounts, working: int) -> int:
    """How many pods should work."""
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    if spec.completions is None:
        return working if sum_.succeeded else parallelism
    return max(0, min(spec.completions - sum_.succeeded, parallelism))


def _needed(spec: JobSpec) -> int:
    """How many have to succeed; without a number, one does, and the others end as they will."""
    return 1 if spec.completions is None else spec.completions


def _pods_to_delete(
    spec: JobSpec, working: Sequence[PodState], excess: int, now: datetime
) -> list[PodState]:
    """The pods to delete: those beyond the indexes or with an index twice, then any."""
    doomed: list[PodState] = []
    if is_indexed(spec):
        seen: set[int] = set()
        for pod in sorted(working, key=_seniority):
            index = indexes.index_of(pod)
            if index is None or index >= (spec.completions or 0) or index in seen:
                doomed.append(pod)
            else:
                seen.add(index)
    left = [pod for pod in working if pod not in doomed]
    return doomed + pods_to_delete(left, left, max(0, excess - len(doomed)), now)


def _pending(job: Job, pods: Iterable[PodState], sum_: PodCounts) -> Iterator[int]:
    """The indexes that nobody works on and that are not settled, lowest first."""
    spec = job.spec
    busy = (
        pod
        for pod in pods
        if pod_active(pod) or (replaces_only_failed(spec) and pod_terminating(pod))
    )
    taken = sum_.indexes | sum_.lost | {indexes.index_of(pod) for pod in busy}
    return (index for index in range(spec.completions or 0) if index not in taken)


def _pause(spec: JobSpec, pods: Sequence[PodState], now: datetime) -> float:
    """How long the job has to wait after failures before it makes a pod."""
    good = [pod for pod in pods if pod.status.phase == SUCCEEDED]
    return backoff.remaining_backoff(good, [pod for pod in pods if is_pod_failed(spec, pod)], now)


def _restarted_too_often(job: Job, pods: Iterable[PodState]) -> bool:
    """Whether containers that are restarted in place were restarted too often."""
    if _restart(job.spec.template) != "OnFailure":
        return False
    restarts = sum(
        status.restart_count
        for pod in pods
        if pod.status.phase in ("Running", "Pending")
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    )
    return restarts >= max(1, _limit(job.spec))


def _deadline(job: Job, now: datetime) -> float | None:
    """In how many seconds the job will have been active too long; None if it never will."""
    limit, since = job.spec.active_deadline_seconds, parse_time(job.status.start_time)
    if limit is None or job.spec.suspend:
        return None
    return limit - ((now - since).total_seconds() if since is not None else 0.0)


def _limit(spec: JobSpec) -> int:
    return LIMIT if spec.backoff_limit is None else spec.backoff_limit


def _restart(template: Opaque) -> str:
    return msgspec.json.decode(parse_template(template).spec, type=_Restart).restart_policy


def _seniority(pod: PodState) -> tuple[bool, bool, str]:
    """Which of two pods with one index stays: the one that got further, or was there first."""
    return not pod_ready(pod), pod.status.phase != "Running", pod.metadata.creation_timestamp or ""
