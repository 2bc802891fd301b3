"""ActivePodsWithRanks: which pods of a ReplicaSet go first when there are too many.

In order: not on a node, not running, not ready, cheap by annotation, crowded on a node, ready for
a short time, restarted often, young. Times count by orders of magnitude, so that chance and not
the last rollout decides among pods of about the same age.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cmp_to_key

from quintant.cluster.controllers.pods.views import (
    PodState,
    max_restarts,
    parse_time,
    pod_active,
    pod_ready,
    ready_since,
)

COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
_LARGEST = 2**31
_MICRO = 1_000_000


def pods_to_delete(
    pods: Sequence[PodState], related: Iterable[PodState], count: int, now: datetime
) -> list[PodState]:
    """The first `count` pods to delete; `related` are all pods that share the work with them."""
    if count >= len(pods):
        return list(pods)
    crowd = Counter(pod.spec.node_name for pod in related if pod_active(pod))
    ranked = [_Rank(pod, crowd[pod.spec.node_name]) for pod in pods]
    ranked.sort(key=cmp_to_key(_order(now)))
    return [rank.pod for rank in ranked[:count]]


class _Rank:
    """A pod, and what decides about it, computed once."""

    __slots__ = ("created", "key", "pod", "restarts", "since")

    def __init__(self, pod: PodState, crowd: int) -> None:
        self.pod = pod
        self.key = (
            bool(pod.spec.node_name),
            _PHASES.get(pod.status.phase, 0),
            pod_ready(pod),
            _cost(pod),
            -crowd,
        )
        self.since, self.created = ready_since(pod), parse_time(pod.metadata.creation_timestamp)
        self.restarts = tuple(-count for count in max_restarts(pod))


def _order(now: datetime) -> Callable[[_Rank, _Rank], int]:
    def order(one: _Rank, other: _Rank) -> int:
        if one.key != other.key:
            return -1 if one.key < other.key else 1
        if one.since != other.since:
            return _younger(one, other, (one.since, other.since), now)
        if one.restarts != other.restarts:
            return -1 if one.restarts < other.restarts else 1
        if one.created != other.created:
            return _younger(one, other, (one.created, other.created), now)
        return _by_chance(one, other)

    return order


def _younger(
    one: _Rank, other: _Rank, times: tuple[datetime | None, datetime | None], now: datetime
) -> int:
    mine, others = (_magnitude(time, now) for time in times)
    if mine != others:
        return -1 if mine < others else 1
    return _by_chance(one, other)


def _by_chance(one: _Rank, other: _Rank) -> int:
    """Nothing tells two pods apart but their uids, which are random, and stay the same."""
    return -1 if one.pod.metadata.uid < other.pod.metadata.uid else 1


def _magnitude(time: datetime | None, now: datetime) -> int:
    """How long ago, as a power of two; what has no time is youngest."""
    if time is None:
        return -1
    age = now - time
    return max(0, (age.days * 86400 + age.seconds) * _MICRO + age.microseconds).bit_length()


def _cost(pod: PodState) -> int:
    """What somebody says the pod is worth; 0 if nobody does, or not in a number."""
    text = pod.metadata.annotations.get(COST, "0")
    digits = text.removeprefix("-")
    if not digits.isdecimal() or not digits.isascii() or (digits[0] == "0" and len(digits) > 1):
        return 0
    cost = int(text)
    return cost if -_LARGEST <= cost < _LARGEST else 0
