"""The Job controller: pods that run until enough of them have succeeded.

plan        what a job needs, and what is told of it      counting   each ended pod, once
policy      what failures and successes mean              backoff    patience after failures
indexes     completions with numbers                      pods       from template to pod
reconcile   one turn of a job                             tracking   pods nobody counts
"""

from __future__ import annotations

from collections.abc import Iterable

from quintant.api.batch import Job
from quintant.cluster.controllers.job import tracking
from quintant.cluster.controllers.job.reconcile import reconcile
from quintant.cluster.controllers.namespaces.terminating import unless_terminating
from quintant.cluster.controllers.pods.views import PodState
from quintant.cluster.controllers.ref_manager import ORPHANS, orphan_index
from quintant.core.object import Request
from quintant.core.owner import controller_of
from quintant.runtime.manager.manager import Manager

NAME = "job-controller"


def declare(manager: Manager) -> None:
    """Add the controllers of jobs and of their pods to a manager."""
    (
        manager.controls(Job, name=NAME)
        .owns(PodState, index={ORPHANS: orphan_index})
        .watches(PodState, to=_adopters)
        .reconcile(unless_terminating(reconcile))
    )
    (
        manager.keyed(f"{NAME}-tracking")
        .watches(Job, to=lambda job: [job.key], when=_released)
        .watches(PodState, to=_held, index={tracking.TRACKED: tracking.held_for})
        .uses(PodState, "patch")
        .reconcile(tracking.reconcile)
    )


def _adopters(pod: PodState) -> Iterable[Request]:
    """The job that a pod without controller names by its labels."""
    name = tracking.job_name(pod) if controller_of(pod) is None else ""
    return [Request(name, pod.metadata.namespace)] if name else []


def _held(pod: PodState) -> Iterable[Request]:
    job = tracking.job_of(pod)
    return [job] if job is not None else []


def _released(old: Job | None, new: Job | None) -> bool:
    """Whether a job has just stopped to count its pods."""
    return new is None or new.deleting or bool(new.outcome)
