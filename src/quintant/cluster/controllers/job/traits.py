"""isPodFailed, hasJobTrackingFinalizer: what a pod is to its Job. Pure."""

from __future__ import annotations

from quintant.api.batch import JobSpec
from quintant.cluster.controllers.job import indexes
from quintant.cluster.controllers.pods.views import PodState

TRACKING = "batch.kubernetes.io/job-tracking"
"""The finalizer that holds a pod until it is counted."""
SUCCEEDED, FAILED = "Succeeded", "Failed"


def has_tracking_finalizer(pod: PodState) -> bool:
    """Whether a pod waits to be counted."""
    return TRACKING in pod.metadata.finalizers


def is_indexed(spec: JobSpec) -> bool:
    """Whether each completion of a job has a number of its own."""
    return spec.completion_mode == "Indexed"


def replaces_only_failed(spec: JobSpec) -> bool:
    """Whether pods are replaced when they failed, and not already when they are being deleted."""
    return spec.pod_replacement_policy == FAILED or spec.pod_failure_policy is not None


def is_pod_failed(spec: JobSpec, pod: PodState) -> bool:
    """Whether a pod will not succeed any more."""
    if replaces_only_failed(spec) or not pod.deleting:
        return pod.status.phase == FAILED
    return pod.status.phase != SUCCEEDED


def has_valid_index(spec: JobSpec, pod: PodState) -> bool:
    """Whether a pod can count: an index beyond the last one cannot."""
    index = indexes.index_of(pod)
    return not is_indexed(spec) or (index is not None and index < (spec.completions or 0))
