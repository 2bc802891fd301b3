"""updateStatefulSetStatus: the status of a StatefulSet: pods, and its two revisions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from quintant.api.apps import StatefulSet, StatefulSetStatus
from quintant.cluster.controllers.history import HASH
from quintant.cluster.controllers.pods.views import PodState, pod_available, pod_ready
from quintant.cluster.controllers.statefulset.members import ROLLING, size
from quintant.core.object import replace


def report(
    sets: StatefulSet,
    pods: Sequence[PodState],
    revisions: tuple[str, str],
    collisions: int,
    now: datetime,
) -> StatefulSetStatus:
    """The status of a set with these pods; `revisions` are the current one and the next."""
    current, update = revisions
    prompt = [pod for pod in pods if pod.status.phase == "Running" and pod_ready(pod)]
    names = [pod.metadata.labels.get(HASH) for pod in pods if not pod.deleting]
    status = StatefulSetStatus(
        observed_generation=sets.metadata.generation,
        replicas=len(pods),
        ready_replicas=len(prompt),
        available_replicas=sum(pod_available(p, sets.spec.min_ready_seconds, now) for p in prompt),
        current_replicas=names.count(current),
        updated_replicas=names.count(update),
        current_revision=current,
        update_revision=update,
        collision_count=collisions,
        conditions=sets.status.conditions,
    )
    return _completed(sets, status)


def _completed(sets: StatefulSet, status: StatefulSetStatus) -> StatefulSetStatus:
    """A rollout is over when all pods are of the next revision and ready: it is then current."""
    counts = (status.updated_replicas, status.ready_replicas, status.replicas)
    if sets.spec.update_strategy.type != ROLLING or counts != (size(sets),) * 3:
        return status
    return replace(
        status,
        current_replicas=status.updated_replicas,
        current_revision=status.update_revision,
    )
