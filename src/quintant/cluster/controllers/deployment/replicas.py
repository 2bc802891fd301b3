"""NewRSNewReplicas, reconcileOldReplicaSets: the next size of each set of a Deployment.

While a rollout moves, the new set grows as far as the surge allows, and else old ones shrink as far
as availability allows, those with broken pods first. When the size of the whole changes meanwhile,
or while it is paused, the sets grow and shrink in proportion.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from quintant.api.apps import ReplicaSet
from quintant.cluster.controllers.deployment.history import DESIRED, MAXIMUM, number
from quintant.cluster.controllers.deployment.rollout import Rollout, age, size


class ReplicaSetScale(Struct, frozen=True):
    """A set and the size it gets."""

    replicas: ReplicaSet
    size: int
    marked: bool = False
    """Whether its annotations follow even if its size stays."""


class RolloutStep(Struct, frozen=True):
    """What to do next."""

    create: int | None = None
    """The size of a new set to be made."""
    scales: tuple[ReplicaSetScale, ...] = ()
    rolling: bool = True
    """Whether this is part of a rollout, whose progress counts."""
    tidy: bool = False
    """Whether old sets that nobody needs any more may go."""


def next_step(rollout: Rollout) -> RolloutStep:
    """The next step of a Deployment."""
    if rollout.deployment.spec.paused:
        return RolloutStep(scales=_spread(rollout), rolling=False, tidy=True)
    if _resized(rollout):
        return RolloutStep(scales=_spread(rollout), rolling=False)
    moved = _recreate(rollout) if rollout.recreates else _roll(rollout)
    if moved.create is not None or moved.scales:
        return moved
    return replace(moved, tidy=rollout.complete(rollout.deployment.status))


def _resized(rollout: Rollout) -> bool:
    """Whether the size of the whole changed since the sets were last given theirs."""
    marks = (number(each, DESIRED) for each in rollout.sets if size(each))
    return any(mark is not None and mark != rollout.desired for mark in marks)


def _recreate(rollout: Rollout) -> RolloutStep:
    shrink = tuple(ReplicaSetScale(each, 0) for each in rollout.old if size(each))
    if shrink or any(map(_busy, rollout.old)):
        return RolloutStep(scales=shrink)
    if rollout.new is None:
        return RolloutStep(create=rollout.desired)
    return RolloutStep(scales=_changed([ReplicaSetScale(rollout.new, rollout.desired)]))


def _busy(replicas: ReplicaSet) -> bool:
    """Whether any pod of a set may still run."""
    status = replicas.status
    late = status.observed_generation < replicas.metadata.generation
    return late or bool(status.replicas or status.terminating_replicas)


def _roll(rollout: Rollout) -> RolloutStep:
    new = rollout.new
    if new is None:
        return RolloutStep(create=_room(rollout, 0))
    grown = rollout.desired if size(new) > rollout.desired else _room(rollout, size(new))
    scales = _changed([ReplicaSetScale(new, grown)])
    return RolloutStep(scales=scales or _shrink(rollout, new))


def _room(rollout: Rollout, present: int) -> int:
    """How large the new set may be: within the limit of the whole, and no larger than desired."""
    room = max(0, rollout.limit - rollout.total)
    return present + min(room, rollout.desired - present)


def _shrink(rollout: Rollout, new: ReplicaSet) -> tuple[ReplicaSetScale, ...]:
    """Take from the old sets what the others can spare."""
    least = rollout.desired - rollout.unavailable
    broken = size(new) - new.status.available_replicas
    spare = rollout.total - least - broken
    old = [each for each in rollout.old if size(each)]
    if spare <= 0:
        return ()
    # Pods that are broken already: their loss costs nothing.
    useless = [max(0, size(each) - each.status.available_replicas) for each in old]
    sizes = _taken([size(each) for each in old], useless, spare)
    spare = sum(each.status.available_replicas for each in (*old, new)) - least
    sizes = _taken(sizes, sizes, spare)
    return _changed([ReplicaSetScale(each, left) for each, left in zip(old, sizes, strict=True)])


def _taken(sizes: Sequence[int], most: Sequence[int], spare: int) -> list[int]:
    """Sizes with `spare` taken off, the first one first, and off each no more than its `most`."""
    left = []
    for each, limit in zip(sizes, most, strict=True):
        gone = max(0, min(spare, limit))
        left.append(each - gone)
        spare -= gone
    return left


def _spread(rollout: Rollout) -> tuple[ReplicaSetScale, ...]:
    """Give a change of size to the one set there is, or to each its share."""
    working = [each for each in rollout.sets if size(each)]
    if len(working) <= 1:
        latest = [rollout.new] if rollout.new is not None else rollout.old[-1:]
        return _changed([ReplicaSetScale(each, rollout.desired) for each in working or latest])
    if rollout.new is not None and _saturated(rollout, rollout.new):
        return tuple(ReplicaSetScale(each, 0) for each in rollout.old if size(each))
    return () if rollout.recreates else _proportional(rollout, working)


def _proportional(rollout: Rollout, working: list[ReplicaSet]) -> tuple[ReplicaSetScale, ...]:
    """Grow or shrink sets as their sizes are; the largest takes what is left by rounding."""
    allowed = rollout.limit if rollout.desired else 0
    wanted = allowed - sum(map(size, working))
    # Of equal ones the newer grows first, and the older shrinks first.
    working.sort(key=age, reverse=wanted > 0)
    working.sort(key=size, reverse=True)
    sizes, added = [], 0
    for each in working:
        share = _share(rollout, each, wanted, added)
        sizes.append(size(each) + share)
        added += share
    sizes[0] = max(0, sizes[0] + wanted - added)
    return tuple(
        ReplicaSetScale(each, next_, marked=True)
        for each, next_ in zip(working, sizes, strict=True)
    )


def _share(rollout: Rollout, replicas: ReplicaSet, wanted: int, added: int) -> int:
    """What one set takes of a change, never more than is left of it."""
    left, present = wanted - added, size(replicas)
    if not left:
        return 0
    if not rollout.desired:
        fraction = -present
    else:
        before = number(replicas, MAXIMUM) or rollout.deployment.status.replicas
        fraction = _rounded(present * rollout.limit, before) - present if before else 0
    return min(fraction, left) if wanted > 0 else max(fraction, left)


def _rounded(number: int, divisor: int) -> int:
    return (2 * number + divisor) // (2 * divisor)


def _saturated(rollout: Rollout, new: ReplicaSet) -> bool:
    """Whether the new set, by its own account too, has all pods that are desired."""
    counts = (size(new), number(new, DESIRED), new.status.available_replicas)
    return counts == (rollout.desired,) * 3


def _changed(scales: Sequence[ReplicaSetScale]) -> tuple[ReplicaSetScale, ...]:
    return tuple(each for each in scales if each.size != size(each.replicas))
