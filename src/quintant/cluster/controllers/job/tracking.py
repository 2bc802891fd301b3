"""syncOrphanPod: finalizer removal from pods whose Job is gone, finished or another.

The finalizer by which pods are counted must not outlive the interest in the count. Keys are jobs by
name, whether they exist or not; pods are found by the labels that a job gives them.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintant.api.batch import Job
from quintant.api.meta import LabelSelector
from quintant.cluster.controllers.job.reconcile import OURS, remove_tracking_finalizer
from quintant.cluster.controllers.job.traits import has_tracking_finalizer
from quintant.cluster.controllers.pods.views import PodState
from quintant.core.object import Request
from quintant.core.owner import controller_of
from quintant.runtime.reconcile.context import KeyContext

TRACKED = "job-tracked"
"""The index of pods that are held for a job, by namespace and name of that job."""
NAME_LABELS = ("batch.kubernetes.io/job-name", "job-name")


def job_of(pod: PodState) -> Request | None:
    """The job that a held pod belongs or belonged to."""
    if not has_tracking_finalizer(pod):
        return None
    held = controller_of(pod)
    if held is not None and held.kind != "Job":
        return None
    name = held.name if held is not None else job_name(pod)
    return Request(name, pod.metadata.namespace) if name else None


def job_name(pod: PodState) -> str:
    """The name of the job that a pod was made for, by its labels; empty for other pods."""
    labels = (pod.metadata.labels.get(label, "") for label in NAME_LABELS)
    return next(filter(None, labels), "")


def held_for(pod: PodState) -> Iterable[str]:
    """The index function of TRACKED."""
    job = job_of(pod)
    return (str(job),) if job is not None else ()


async def reconcile(request: Request, ctx: KeyContext) -> None:
    """Let go of the pods that a job of this name does not count."""
    pods = await ctx.client.list(PodState, index=(TRACKED, str(request)))
    job = await ctx.client.find(Job, *request) if pods else None
    for pod in pods:
        if not _counted(pod, job):
            await remove_tracking_finalizer(ctx.client, pod)


def _counted(pod: PodState, job: Job | None) -> bool:
    """Whether a job will count a pod, or somebody else looks after them."""
    held = controller_of(pod)
    if job is None or (held is not None and held.uid != job.metadata.uid):
        return False
    if held is None and not (job.spec.selector or LabelSelector()).matches(pod.metadata.labels):
        return False
    return (job.spec.managed_by or OURS) != OURS or not (job.outcome or job.deleting)
