"""updateStatefulSet: the pods of a StatefulSet by ordinal, and which is created or deleted next.

In order, a pod is made when all before it are available, and surplus ones are deleted from the
last on, one at a time; in parallel neither waits. Then a rollout replaces outdated pods from the
last on, one at a time, down to the partition. Scaling comes before rolling.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from quintant.api.apps import StatefulSet
from quintant.cluster.controllers.history import HASH
from quintant.cluster.controllers.pods.views import PodState, pod_available, pod_finished, pod_ready
from quintant.cluster.controllers.statefulset.identity import identity_matches, pod_ordinal

PARALLEL = "Parallel"
ROLLING = "RollingUpdate"


class Members(Struct, frozen=True):
    """The pods of a set: one place for each number, and those that are too many."""

    sets: StatefulSet
    places: tuple[PodState | None, ...]
    """The pods that should be, by number, with None where one is missing."""
    surplus: tuple[tuple[int, PodState], ...]
    """The pods that should not, with their numbers, the last one first."""

    @staticmethod
    def of(sets: StatefulSet, pods: Iterable[PodState]) -> Members:
        """Tell the pods of a set apart."""
        known = {_number(sets, pod): pod for pod in pods}
        numbers = range(start(sets), start(sets) + size(sets))
        places = tuple(known.get(number) for number in numbers)
        rest = sorted((n for n in known if n is not None and n not in numbers), reverse=True)
        return Members(sets, places, tuple((number, known[number]) for number in rest))

    @property
    def pods(self) -> tuple[tuple[int, PodState], ...]:
        """All pods there are, with their numbers."""
        first = start(self.sets)
        there = ((first + at, pod) for at, pod in enumerate(self.places) if pod is not None)
        return (*there, *self.surplus)


class StatefulSetPlan(Struct, frozen=True):
    """What to do next."""

    create: tuple[int, ...] = ()
    delete: tuple[PodState, ...] = ()
    label: tuple[tuple[int, PodState], ...] = ()
    """Pods that do not say which one they are."""
    claim: tuple[int, ...] = ()
    """Pods that wait, and whose claims may be missing."""


def plan(members: Members, update: str, now: datetime) -> StatefulSetPlan:
    """What a set needs, `update` being the revision that its pods should have."""
    return (
        _in_parallel(members, update, now)
        if _parallel(members.sets)
        else _in_order(members, update, now)
    )


def revision_of(sets: StatefulSet, number: int, current: str, update: str) -> str:
    """The revision of a new pod with a number: below the partition the current one."""
    strategy = sets.spec.update_strategy
    if strategy.rolling_update is not None:
        bound = strategy.rolling_update.partition or 0
    else:
        bound = sets.status.current_replicas if strategy.type == ROLLING else 0
    return current if number < start(sets) + bound else update


def size(sets: StatefulSet) -> int:
    """How many pods there should be."""
    return sets.spec.replicas or 0


def start(sets: StatefulSet) -> int:
    """The number of the first pod."""
    return sets.spec.ordinals.start if sets.spec.ordinals is not None else 0


def _in_order(members: Members, update: str, now: datetime) -> StatefulSetPlan:
    sets, first = members.sets, start(members.sets)
    label: list[tuple[int, PodState]] = []
    for number, pod in enumerate(members.places, first):
        if pod is None:
            return StatefulSetPlan(create=(number,), label=tuple(label))
        if pod_finished(pod):
            return StatefulSetPlan(delete=() if pod.deleting else (pod,), label=tuple(label))
        if not _healthy(sets, pod, now):
            return StatefulSetPlan(claim=_waiting(number, pod), label=tuple(label))
        if not identity_matches(sets, number, pod):
            label.append((number, pod))
    if members.surplus:
        return StatefulSetPlan(delete=_last(members, now), label=tuple(label))
    return StatefulSetPlan(delete=_outdated(members, update, now), label=tuple(label))


def _in_parallel(members: Members, update: str, now: datetime) -> StatefulSetPlan:
    sets, there = members.sets, list(enumerate(members.places, start(members.sets)))
    pods = [(number, pod) for number, pod in there if pod is not None]
    ended = [pod for _, pod in pods if pod_finished(pod) and not pod.deleting]
    surplus = [pod for _, pod in members.surplus if not pod.deleting]
    waiting = [number for number, pod in pods for number in _waiting(number, pod)]
    strange = [(number, pod) for number, pod in pods if not identity_matches(sets, number, pod)]
    return StatefulSetPlan(
        create=tuple(number for number, pod in there if pod is None),
        delete=(*ended, *surplus, *_outdated(members, update, now)),
        label=tuple(strange),
        claim=tuple(waiting),
    )


def _last(members: Members, now: datetime) -> tuple[PodState, ...]:
    """The surplus pod that goes next; none while one goes, or while another is not well."""
    sets, (_, last) = members.sets, members.surplus[0]
    unwell = [pod for _, pod in reversed(members.surplus) if not _healthy(sets, pod, now)]
    if last.deleting or (last in unwell and last is not unwell[0]):
        return ()
    return (last,)


def _outdated(members: Members, update: str, now: datetime) -> tuple[PodState, ...]:
    """The pod that the rollout replaces next; none while one after it is not available."""
    strategy = members.sets.spec.update_strategy
    if strategy.type != ROLLING:
        return ()
    rolling = strategy.rolling_update
    partition = (rolling.partition or 0) if rolling is not None else 0
    for pod in reversed(members.places[partition:]):
        if pod is None or pod_finished(pod):
            return ()
        if pod.metadata.labels.get(HASH) != update and not pod.deleting:
            return (pod,)
        if pod.deleting or not pod_available(pod, members.sets.spec.min_ready_seconds, now):
            return ()
    return ()


def _waiting(number: int, pod: PodState) -> tuple[int, ...]:
    return (number,) if pod.status.phase == "Pending" and not pod.deleting else ()


def _healthy(sets: StatefulSet, pod: PodState, now: datetime) -> bool:
    """Whether those after a pod need not wait for it."""
    runs = pod.status.phase == "Running" and pod_ready(pod) and not pod.deleting
    return runs and pod_available(pod, sets.spec.min_ready_seconds, now)


def _parallel(sets: StatefulSet) -> bool:
    return sets.spec.pod_management_policy == PARALLEL


def _number(sets: StatefulSet, pod: PodState) -> int | None:
    return pod_ordinal(sets.metadata.name, pod.metadata.name)
