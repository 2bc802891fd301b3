"""What the controller remembers of a network between two looks: hints, never the truth.

All of it may be lost at any moment: the truth is on the pods and in the peers. It holds when to
try which pod again, how often a check failed, and records that the API server has not taken yet.

Every part is frozen: a step returns the memory that replaces the one it was given.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from quintant.core.object import Request
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.observed.membership import Membership
from quintant.runtime.workqueue.attempts import CAP_SECONDS, FIRST_SECONDS

MOST_DOUBLINGS = 16
"""Doublings after which the first back-off is beyond the longest one."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wait:
    """Why a pod is no member yet, or none no more, and when it is tried again."""

    incarnation: str
    since: float
    """When this incarnation was first seen waiting."""
    reason: str = ""
    """For what it waits, in words."""
    unsettled: bool = False
    """Whether a join may still be under way."""
    late: int = 0
    """How many joins took longer than they may: the next one may take longer."""
    failures: int = 0
    """How often it was tried in vain."""
    due: float = float("-inf")
    """When it may be tried again; the beginning of time if it never failed."""
    claimed: float | None = None
    """When it was first seen that another process was about to join it."""

    @property
    def backoff(self) -> float:
        """Seconds until the try after the next failure: twice as many after each."""
        return min(FIRST_SECONDS * 2.0 ** min(self.failures, MOST_DOUBLINGS), CAP_SECONDS)

    def failed(self, due: float) -> Wait:
        """The same after one more failure."""
        return replace(self, failures=self.failures + 1, due=due)


Waits = Mapping[str, Wait]
"""Those who wait, by uid."""


@dataclass(frozen=True, slots=True)
class LeaveMemory:
    """Whose membership is to end."""

    members: Mapping[str, Request] = field(default_factory=dict)
    """The pods of the last look that bear our annotations: one that vanishes from sight may only
    have lost its label."""
    leaving: Mapping[str, PeerPod] = field(default_factory=dict)
    """Pods that have lost their label, and whose peers have not left yet, by uid."""
    ended: frozenset[str] = frozenset()
    """Pods that vanished from sight, and have nothing of ours any more."""
    waits: Waits = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProbeMemory:
    """How the members were at the last checks; by uid where it is about pods."""

    due: float = 0.0
    """When members are to be checked again."""
    sweeps: int = 0
    """How often members were checked."""
    misses: Mapping[str, int] = field(default_factory=dict)
    """Failed checks in a row."""
    missing: Mapping[str, int] = field(default_factory=dict)
    """Sweeps in a row in which a live member was not in the contact's view."""
    foreign: frozenset[str] = frozenset()
    """Peers of another make."""
    ours: Mapping[str, bool] = field(default_factory=dict)
    """Whether a member is one of our own peers, as far as it was asked."""
    newest: Mapping[str, bytes] = field(default_factory=dict)
    """A digest of what was written last to each member when they were last compared."""
    forked: str | None = None
    """Which members have another chain than the rest; None until they were compared twice."""
    unwritable: str = ""
    """Why no client can write, by what our own peers report of their last writes."""
    head: str = ""
    height: int = 0
    """The chain of the contact."""


@dataclass(frozen=True, slots=True)
class JoinMemory:
    """Who waits to join, and what was begun; by uid where it is about pods."""

    waits: Waits = field(default_factory=dict)
    unsaved: Mapping[str, Membership] = field(default_factory=dict)
    """Records of joins that happened and could not be written down yet."""
    intents: frozenset[str] = frozenset()
    """Pods on which stands that they are being joined."""
    pods: int = 0
    """How many pods there were at the last look; since when there are as many, and any at all."""
    still: float = 0.0
    born: float = 0.0
    memberless: float | None = None
    """Since when a network that had members has none."""
    trouble: str = ""
    """Why the network did not take a peer, until it takes one again."""


@dataclass(frozen=True, slots=True)
class ShowMemory:
    """What the LightNetwork shows, and when it was written."""

    written: float = float("-inf")
    """When the status was last written."""
    empty: float | None = None
    """Since when there are no pods."""
    repaired: str = ""
    """How the last repair ended."""
    handled: str | None = None
    """The request that it followed; None before the first one."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The hints about one network, a part for each step that has some."""

    leave: LeaveMemory = LeaveMemory()
    probe: ProbeMemory = ProbeMemory()
    join: JoinMemory = JoinMemory()
    show: ShowMemory = ShowMemory()


def wait_of(waits: Waits, uid: str, incarnation: str, now: float) -> Wait:
    """What is known of a waiting pod; a new incarnation begins again."""
    known = waits.get(uid)
    same = known is not None and known.incarnation == incarnation
    return known if known is not None and same else Wait(incarnation, now)


def without(held: Mapping[str, T], uid: str) -> Mapping[str, T]:
    """The same but for one pod."""
    return {key: value for key, value in held.items() if key != uid} if uid in held else held


def counted(memory: Memory, pods: int, now: float) -> Memory:
    """The memory of a network that has so many pods now."""
    join = memory.join
    if pods == join.pods:
        return memory
    born = join.born if join.pods else now
    return replace(memory, join=replace(join, pods=pods, still=now, born=born))


def forgotten(memory: Memory, uid: str) -> Memory:
    """The memory without the membership of a pod."""
    join, probe = memory.join, memory.probe
    return replace(
        memory,
        join=replace(join, unsaved=without(join.unsaved, uid), intents=join.intents - {uid}),
        probe=replace(
            probe, misses=without(probe.misses, uid), missing=without(probe.missing, uid)
        ),
    )


def retained(memory: Memory, alive: Container[str]) -> Memory:
    """The memory without pods that are no more."""
    leave, join, probe = memory.leave, memory.join, memory.probe
    return replace(
        memory,
        leave=replace(leave, waits=_only(leave.waits, alive)),
        join=replace(
            join,
            waits=_only(join.waits, alive),
            unsaved=_only(join.unsaved, alive),
            intents=_known(join.intents, alive),
        ),
        probe=replace(
            probe,
            misses=_only(probe.misses, alive),
            missing=_only(probe.missing, alive),
            ours=_only(probe.ours, alive),
            foreign=_known(probe.foreign, alive),
        ),
    )


def _only(held: Mapping[str, T], alive: Container[str]) -> Mapping[str, T]:
    return {uid: value for uid, value in held.items() if uid in alive}


def _known(held: frozenset[str], alive: Container[str]) -> frozenset[str]:
    return frozenset(uid for uid in held if uid in alive)
