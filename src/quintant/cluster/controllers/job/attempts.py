"""backoffLimitPerIndex: failures per index: how often, which are final, which is next. Pure.

With `backoffLimitPerIndex`, a pod carries the number of failures of its index before it. The last
failed pod of an index is held until another has taken over its number.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from quintant.api.batch import Job, JobSpec
from quintant.cluster.controllers.job import backoff, indexes
from quintant.cluster.controllers.job.policy import match_pod_failure_policy
from quintant.cluster.controllers.job.traits import (
    has_tracking_finalizer,
    has_valid_index,
    is_pod_failed,
)
from quintant.cluster.controllers.pods.views import PodState, pod_active
from quintant.wire.digits import parse_digits

FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"
"""The annotations of a pod that say how often its index failed before it."""


def has_index_backoff(spec: JobSpec) -> bool:
    """Whether each index has a limit of its own."""
    return spec.backoff_limit_per_index is not None


def failed_indexes(job: Job, pods: Iterable[PodState]) -> frozenset[int]:
    """The indexes that have failed for good."""
    if not has_index_backoff(job.spec):
        return frozenset()
    known = indexes.parse_indexes(job.status.failed_indexes or "", job.spec.completions or 0)
    found = (indexes.index_of(pod) for pod in _failed(job.spec, pods) if _final(job.spec, pod))
    return known | {index for index in found if index is not None}


def indexes_to_retry(
    job: Job, pods: Iterable[PodState], settled: Iterable[int]
) -> dict[int, PodState]:
    """The last failed pod of each index that nobody has taken over, and that is not settled."""
    if not has_index_backoff(job.spec):
        return {}
    pods = list(pods)
    busy = {*settled, *(indexes.index_of(pod) for pod in pods if pod_active(pod))}
    last: dict[int, PodState] = {}
    for pod in sorted(
        _failed(job.spec, pods), key=lambda pod: (_count(pod), backoff.finish_time(pod))
    ):
        index = indexes.index_of(pod)
        if index is not None and index not in busy:
            last[index] = pod
    return last


def index_backoff(replaced: PodState | None, now: datetime) -> float:
    """How many seconds an index has to wait for its next pod."""
    if replaced is None:
        return 0.0
    return backoff.backoff_left(_count(replaced) + 1, backoff.finish_time(replaced), now)


def retry_annotations(spec: JobSpec, replaced: PodState | None) -> dict[str, str]:
    """The annotations of the next pod of an index."""
    if not has_index_backoff(spec):
        return {}
    failures, ignored = (_number(replaced, name) for name in (FAILURES, IGNORED))
    if replaced is not None:
        counts = match_pod_failure_policy(spec, replaced).counts
        failures, ignored = failures + counts, ignored + (not counts)
    return {FAILURES: str(failures)} | ({IGNORED: str(ignored)} if ignored else {})


def _failed(spec: JobSpec, pods: Iterable[PodState]) -> list[PodState]:
    return [
        pod
        for pod in pods
        if has_tracking_finalizer(pod) and has_valid_index(spec, pod) and is_pod_failed(spec, pod)
    ]


def _final(spec: JobSpec, pod: PodState) -> bool:
    action = match_pod_failure_policy(spec, pod)
    limit = spec.backoff_limit_per_index or 0
    return action.dooms or (action.counts and _number(pod, FAILURES) >= limit)


def _count(pod: PodState) -> int:
    return _number(pod, FAILURES) + _number(pod, IGNORED)


def _number(pod: PodState | None, annotation: str) -> int:
    text = pod.metadata.annotations.get(annotation, "") if pod is not None else ""
    return parse_digits(text) or 0
