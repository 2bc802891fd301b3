"""trackJobStatusAndRemoveFinalizers: every pod that ended is counted exactly once.

Every pod of a job has a finalizer. An ended pod is first noted in the job's status by its uid,
then loses its finalizer, and then, no longer to be mistaken for one that was not counted, becomes
part of a number:

    ended, held ──status: uncounted──> noted, held ──finalizer off──> noted ──status──> counted

An index is its own note: a completed one is completed, however often it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from quintant.api.batch import Job, JobSpec, JobStatus, UncountedTerminatedPods
from quintant.cluster.controllers.job import attempts, indexes
from quintant.cluster.controllers.job.policy import match_pod_failure_policy
from quintant.cluster.controllers.job.traits import (
    SUCCEEDED,
    has_tracking_finalizer,
    has_valid_index,
    is_indexed,
    is_pod_failed,
)
from quintant.cluster.controllers.pods.views import PodState
from quintant.core.object import replace

LIMIT = 500
"""Pods noted at once: their uids must not fill the job."""


class PodCounts(Struct, frozen=True):
    """The pods of a job, in numbers, whether they are in its status yet or not."""

    succeeded: int
    failed: int
    indexes: frozenset[int] = frozenset()
    """The completed ones of an indexed job."""
    lost: frozenset[int] = frozenset()
    """Those that have failed for good."""


class StatusUpdate(Struct, frozen=True):
    """A status that notes what ended, and the pods that need not be held any more then."""

    status: JobStatus
    release: tuple[PodState, ...]


def count_pods(job: Job, pods: Iterable[PodState]) -> PodCounts:
    """Count everything that ended so far."""
    spec, status = job.spec, job.status
    noted = status.uncounted_terminated_pods or UncountedTerminatedPods()
    fresh = [pod for pod in pods if has_tracking_finalizer(pod) and has_valid_index(spec, pod)]
    failed = [
        pod
        for pod in fresh
        if is_pod_failed(spec, pod)
        and pod.metadata.uid not in noted.failed
        and match_pod_failure_policy(spec, pod).counts
    ]
    lost = status.failed + len(noted.failed) + len(failed)
    good = [pod for pod in fresh if pod.status.phase == SUCCEEDED]
    if is_indexed(spec):
        done = indexes.parse_indexes(status.completed_indexes, spec.completions or 0)
        done |= {index for pod in good if (index := indexes.index_of(pod)) is not None}
        return PodCounts(len(done), lost, done, attempts.failed_indexes(job, fresh))
    new = [pod for pod in good if pod.metadata.uid not in noted.succeeded]
    return PodCounts(status.succeeded + len(noted.succeeded) + len(new), lost)


def record_finished_pods(
    job: Job,
    pods: Sequence[PodState],
    *,
    ending: bool = False,
    failing: bool = False,
    stopped: Iterable[PodState] = (),
) -> StatusUpdate:
    """Note the pods that ended, and count those that were noted before and are free now.

    With `ending`, none of the job's pods need be held any longer; with `failing`, those that did
    not succeed count as failed. The `stopped` ones are being deleted by ourselves, which alone is
    no failure.
    """
    ours = {pod.metadata.uid for pod in stopped}
    ledger = _Ledger(job.spec, _settled(job, pods))
    for pod in sorted(_releasable(job, pods, ending), key=lambda pod: indexes.index_of(pod) or 0):
        lost = is_pod_failed(job.spec, pod) and pod.metadata.uid not in ours
        if ending or lost or pod.status.phase == SUCCEEDED:
            ledger.add(pod, lost=lost or failing)
        if len(ledger.free) >= LIMIT:
            break
    status = ledger.written()
    if attempts.has_index_backoff(job.spec):
        status = replace(
            status, failed_indexes=indexes.format_indexes(attempts.failed_indexes(job, pods))
        )
    return StatusUpdate(status, tuple(ledger.free))


def _releasable(job: Job, pods: Sequence[PodState], ending: bool) -> list[PodState]:
    """The pods that are held for no other reason than to be counted."""
    held = [pod for pod in pods if has_tracking_finalizer(pod)]
    if ending or not attempts.has_index_backoff(job.spec):
        return held
    sum_ = count_pods(job, held)
    last = attempts.indexes_to_retry(job, held, sum_.indexes | sum_.lost).values()
    needed = {pod.metadata.uid for pod in last}
    return [pod for pod in held if pod.metadata.uid not in needed]


def _settled(job: Job, pods: Sequence[PodState]) -> JobStatus:
    """The status, with those of the noted pods in its numbers that nothing holds any more."""
    status, noted = job.status, job.status.uncounted_terminated_pods or UncountedTerminatedPods()
    held = {pod.metadata.uid for pod in pods if has_tracking_finalizer(pod)}
    left = UncountedTerminatedPods(
        succeeded=tuple(uid for uid in noted.succeeded if uid in held),
        failed=tuple(uid for uid in noted.failed if uid in held),
    )
    return replace(
        status,
        succeeded=status.succeeded + len(noted.succeeded) - len(left.succeeded),
        failed=status.failed + len(noted.failed) - len(left.failed),
        uncounted_terminated_pods=left,
    )


class _Ledger:
    """Notes pods one by one on a status."""

    def __init__(self, spec: JobSpec, status: JobStatus) -> None:
        noted = status.uncounted_terminated_pods or UncountedTerminatedPods()
        self.free: list[PodState] = []
        self._spec, self._status = spec, status
        self._good, self._bad = dict.fromkeys(noted.succeeded), dict.fromkeys(noted.failed)
        self._done = set(indexes.parse_indexes(status.completed_indexes, spec.completions or 0))

    def add(self, pod: PodState, *, lost: bool) -> None:
        self.free.append(pod)
        uid, index = pod.metadata.uid, indexes.index_of(pod)
        if not has_valid_index(self._spec, pod):
            return
        if pod.status.phase == SUCCEEDED and uid not in self._bad:
            if not is_indexed(self._spec):
                self._good[uid] = None
            elif index is not None:
                self._done.add(index)
        elif lost and match_pod_failure_policy(self._spec, pod).counts:
            self._bad[uid] = None

    def written(self) -> JobStatus:
        noted = UncountedTerminatedPods(succeeded=tuple(self._good), failed=tuple(self._bad))
        status = replace(self._status, uncounted_terminated_pods=noted)
        if not is_indexed(self._spec):
            return status
        text = indexes.format_indexes(self._done)
        return replace(status, completed_indexes=text, succeeded=len(self._done))
