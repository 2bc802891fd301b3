"""syncRolloutStatus, calculateStatus: counts, and the conditions Available and Progressing.

A condition that changes its status or reason moves to the end of the list, as on a real cluster.
Progressing tells when a rollout last moved; past its deadline without progress it is False.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from quintant.api.apps import DeploymentStatus, ReplicaSet, WorkloadCondition
from quintant.api.meta import condition_of
from quintant.cluster.controllers.deployment.rollout import Rollout, size
from quintant.cluster.controllers.pods.views import parse_time
from quintant.cluster.controllers.replicaset.status import FAILURE
from quintant.core.clock import timestamp
from quintant.core.object import replace

AVAILABLE, PROGRESSING = "Available", "Progressing"
ENOUGH, NOT_ENOUGH = "MinimumReplicasAvailable", "MinimumReplicasUnavailable"
PAUSED, RESUMED = "DeploymentPaused", "DeploymentResumed"
CREATED, FOUND, MOVED = "NewReplicaSetCreated", "FoundNewReplicaSet", "ReplicaSetUpdated"
DONE, LATE = "NewReplicaSetAvailable", "ProgressDeadlineExceeded"
NOT_CREATED = "ReplicaSetCreateError"

Conditions = tuple[WorkloadCondition, ...]


def new_condition(
    type: str, status: str, reason: str, message: str, now: datetime
) -> WorkloadCondition:
    """A condition that is reached now."""
    at = timestamp(now)
    return WorkloadCondition(
        type=type, status=status, reason=reason, message=message,
        last_update_time=at, last_transition_time=at,
    )  # fmt: skip


def set_condition(conditions: Conditions, new: WorkloadCondition) -> Conditions:
    """The conditions with one of them new; unchanged if it has the same status and reason."""
    held = _held(conditions, new.type)
    if held is not None and (held.status, held.reason) == (new.status, new.reason):
        return conditions
    if held is not None and held.status == new.status:
        new = replace(new, last_transition_time=held.last_transition_time)
    return (*remove_condition(conditions, new.type), new)


def remove_condition(conditions: Conditions, type: str) -> Conditions:
    """The conditions but one."""
    return tuple(each for each in conditions if each.type != type)


def with_paused_condition(rollout: Rollout, now: datetime) -> Rollout:
    """The rollout with a word on being paused or resumed: neither is a lack of progress."""
    spec, held = rollout.deployment.spec, _progressing(rollout)
    reason = held.reason if held is not None else ""
    if rollout.deadline is None or reason == LATE or spec.paused == (reason == PAUSED):
        return rollout
    word, text = (PAUSED, "paused") if spec.paused else (RESUMED, "resumed")
    return with_condition(
        rollout, new_condition(PROGRESSING, "Unknown", word, f"Deployment is {text}", now)
    )


def with_found_condition(rollout: Rollout, now: datetime) -> Rollout:
    """The rollout with a first word on its progress, if a new set was there before any."""
    if rollout.deadline is None or rollout.new is None or _progressing(rollout) is not None:
        return rollout
    text = f'Found new replica set "{rollout.new.metadata.name}"'
    return with_condition(rollout, new_condition(PROGRESSING, "True", FOUND, text, now))


def with_created_condition(rollout: Rollout, now: datetime) -> Rollout:
    """The rollout with a word on the set that was made for it."""
    if rollout.deadline is None or rollout.new is None:
        return rollout
    text = f'Created new replica set "{rollout.new.metadata.name}"'
    return with_condition(rollout, new_condition(PROGRESSING, "True", CREATED, text, now))


def with_condition(rollout: Rollout, condition: WorkloadCondition) -> Rollout:
    """The rollout with one condition more, or another."""
    status = rollout.deployment.status
    return rollout.with_status(
        replace(status, conditions=set_condition(status.conditions, condition))
    )


def report(rollout: Rollout, now: datetime, *, rolling: bool) -> DeploymentStatus:
    """The status of a Deployment; with `rolling` its progress is judged, too."""
    status = _counted(rollout, now)
    if rolling:
        conditions = _progress(rollout, status, now)
        return replace(status, conditions=_failures(rollout, conditions))
    return status


def check_after(rollout: Rollout, status: DeploymentStatus, now: datetime) -> float | None:
    """In how many seconds a lack of progress is to be looked for; None if it cannot be one."""
    held = _held(status.conditions, PROGRESSING)
    if rollout.deadline is None or held is None or held.reason in (LATE, DONE):
        return None
    if rollout.complete(status) or rollout.deployment.spec.paused:
        return None
    # Times are written in whole seconds: a second more, and the deadline is past for certain.
    return max(0.0, (_deadline(rollout, held) - now).total_seconds()) + 1


def _counted(rollout: Rollout, now: datetime) -> DeploymentStatus:
    deployment, sets = rollout.deployment, rollout.sets
    available = sum(each.status.available_replicas for each in sets)
    return DeploymentStatus(
        observed_generation=deployment.metadata.generation,
        replicas=sum(each.status.replicas for each in sets),
        updated_replicas=rollout.new.status.replicas if rollout.new is not None else 0,
        ready_replicas=sum(each.status.ready_replicas for each in sets),
        available_replicas=available,
        unavailable_replicas=max(0, sum(map(size, sets)) - available),
        terminating_replicas=_terminating(sets),
        collision_count=deployment.status.collision_count,
        conditions=set_condition(
            deployment.status.conditions, _availability(rollout, available, now)
        ),
    )


def _terminating(sets: Sequence[ReplicaSet]) -> int | None:
    """How many pods are going; None if a set that has been looked at does not say."""
    known = [each.status for each in sets if each.status.observed_generation]
    counts = [status.terminating_replicas for status in known]
    return None if None in counts else sum(filter(None, counts))


def _availability(rollout: Rollout, available: int, now: datetime) -> WorkloadCondition:
    if available >= rollout.desired - rollout.unavailable:
        text = "Deployment has minimum availability."
        return new_condition(AVAILABLE, "True", ENOUGH, text, now)
    text = "Deployment does not have minimum availability."
    return new_condition(AVAILABLE, "False", NOT_ENOUGH, text, now)


def _progress(rollout: Rollout, status: DeploymentStatus, now: datetime) -> Conditions:
    if rollout.deadline is None:
        return remove_condition(status.conditions, PROGRESSING)
    held = _progressing(rollout)
    over = held is not None and held.reason == DONE
    if over and status.replicas == status.updated_replicas:
        return status.conditions
    about = _about(rollout)
    if rollout.complete(status):
        text = f"{about} has successfully progressed."
        return set_condition(status.conditions, new_condition(PROGRESSING, "True", DONE, text, now))
    if _moved(rollout.deployment.status, status):
        moved = new_condition(PROGRESSING, "True", MOVED, f"{about} is progressing.", now)
        if held is not None and held.status == "True":
            moved = replace(moved, last_transition_time=held.last_transition_time)
        return (*remove_condition(status.conditions, PROGRESSING), moved)
    if _late(rollout, status, now):
        text = f"{about} has timed out progressing."
        return set_condition(
            status.conditions, new_condition(PROGRESSING, "False", LATE, text, now)
        )
    return status.conditions


def _about(rollout: Rollout) -> str:
    if rollout.new is None:
        return f'Deployment "{rollout.deployment.metadata.name}"'
    return f'ReplicaSet "{rollout.new.metadata.name}"'


def _moved(before: DeploymentStatus, after: DeploymentStatus) -> bool:
    """Whether more pods are new, ready or available than before, or fewer are old."""
    return (
        after.updated_replicas > before.updated_replicas
        or after.replicas - after.updated_replicas < before.replicas - before.updated_replicas
        or after.ready_replicas > before.ready_replicas
        or after.available_replicas > before.available_replicas
    )


def _late(rollout: Rollout, status: DeploymentStatus, now: datetime) -> bool:
    held = _held(status.conditions, PROGRESSING)
    if held is None or held.reason == DONE:
        return False
    return held.reason == LATE or _deadline(rollout, held) < now


def _deadline(rollout: Rollout, held: WorkloadCondition) -> datetime:
    since = parse_time(held.last_update_time)
    assert since is not None, "every condition that we write says when"
    return since + timedelta(seconds=rollout.deadline or 0)


def _failures(rollout: Rollout, conditions: Conditions) -> Conditions:
    """The conditions with the failure of a set to make its pods; the new set's comes first."""
    for each in reversed(rollout.sets):
        failed = condition_of(each.status.conditions, FAILURE)
        if failed is not None:
            condition = WorkloadCondition(
                type=failed.type, status=failed.status, reason=failed.reason,
                message=failed.message, last_update_time=failed.last_transition_time,
                last_transition_time=failed.last_transition_time,
            )  # fmt: skip
            return set_condition(conditions, condition)
    return remove_condition(conditions, FAILURE)


def _progressing(rollout: Rollout) -> WorkloadCondition | None:
    return _held(rollout.deployment.status.conditions, PROGRESSING)


def _held(conditions: Conditions, type: str) -> WorkloadCondition | None:
    return next((each for each in conditions if each.type == type), None)
