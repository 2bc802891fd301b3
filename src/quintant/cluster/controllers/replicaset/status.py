"""calculateStatus: the status of a ReplicaSet or ReplicationController, from its pods."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from quintant.api.apps import ReplicaSet, ReplicaSetStatus
from quintant.api.meta import Condition, condition_of
from quintant.cluster.controllers.pods.templates import parse_template
from quintant.cluster.controllers.pods.views import (
    PodState,
    pod_active,
    pod_available,
    pod_ready,
    pod_terminating,
)
from quintant.cluster.controllers.replicaset.views import R
from quintant.core.clock import timestamp

FAILURE = "ReplicaFailure"


def report(
    replicas: R, pods: Sequence[PodState], failed: Condition | None, now: datetime
) -> ReplicaSetStatus:
    """The status of a set with these pods of its own, `failed` if making them went wrong."""
    working = [pod for pod in pods if pod_active(pod)]
    prompt = [pod for pod in working if pod_ready(pod)]
    labels = parse_template(replicas.spec.template).metadata.labels.items()
    wait = replicas.spec.min_ready_seconds
    return ReplicaSetStatus(
        observed_generation=replicas.metadata.generation,
        replicas=len(working),
        fully_labeled_replicas=sum(labels <= pod.metadata.labels.items() for pod in working),
        ready_replicas=len(prompt),
        available_replicas=(
            sum(pod_available(pod, wait, now) for pod in prompt) if wait else len(prompt)
        ),
        terminating_replicas=(
            sum(map(pod_terminating, pods)) if isinstance(replicas, ReplicaSet) else None
        ),
        conditions=_conditions(replicas.status.conditions, failed),
    )


def failure(reason: str, message: str, now: datetime) -> Condition:
    """The condition of a set whose pods cannot be made, or deleted."""
    return Condition(
        type=FAILURE, status="True", reason=reason, message=message,
        last_transition_time=timestamp(now),
    )  # fmt: skip


def _conditions(before: tuple[Condition, ...], failed: Condition | None) -> tuple[Condition, ...]:
    """The first failure of a row is the one that is told."""
    held = condition_of(before, FAILURE)
    others = tuple(each for each in before if each is not held)
    if failed is None:
        return others
    return (*others, held or failed)
