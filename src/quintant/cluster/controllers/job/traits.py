"""What a pod is to its job: held until counted, failed, valid. Pure, and asked everywhere."""

from __future__ import annotations

from quintant.api.batch import JobSpec
from quintant.cluster.controllers.job import indexes
from quintant.cluster.controllers.pods.views import PodState

TRACKING = "batch.kubernetes.io/job-tracking"
"""The finalizer that holds a pod until it is counted."""
SUCCEEDED, FAILED = "Succeeded", "Failed"


def tracked(pod: PodState) -> bool:
    """Whether a pod waits to be counted."""
    return TRACKING in pod.metadata.finalizers


def indexed(spec: JobSpec) -> bool:
    """Whether each completion of a job has a number of its own."""
    return spec.completion_mode == "Indexed"


def only_failed(spec: JobSpec) -> bool:
    """Whether pods are replaced when they failed, and not already when they are being deleted."""
    return spec.pod_replacement_policy == FAILED or spec.pod_failure_policy is not None


def has_failed(spec: JobSpec, pod: PodState) -> bool:
    """Whether a pod will not succeed any more."""
    if only_failed(spec) or not pod.deleting:
        return pod.status.phase == FAILED
    return pod.status.phase != SUCCEEDED


def valid(spec: JobSpec, pod: PodState) -> bool:
    """Whether a pod can count: an index beyond the last one cannot."""
    index = indexes.index_of(pod)
    return not indexed(spec) or (index is not None and index < (spec.completions or 0))
