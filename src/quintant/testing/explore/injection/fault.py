"""What is done at a point, and the token that names it: `crash-after@w3`.

A point of a program that runs in real time has no number that lasts; it is named by what it is:
`crash-after@delete:apps/statefulsets:default/a#1`. A token repeats a run exactly: the faults,
joined with `+`, and, where they are not the usual, the seed of the loop and the number of steps of
the script: `lost@c0+stale@e7~seed=12~steps=2`. What users apply, where a scenario leaves that open,
comes last, as merge patches of what is good: `undisturbed~specs=[{"replicas":3}]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from quintant.core.errors import ConfigError
from quintant.testing.explore.injection.trace import Point, PointKind


class FaultMode(StrEnum):
    """What is done at a point."""

    CRASH_BEFORE = "crash-before"
    CRASH_AFTER = "crash-after"
    LOST = "lost"
    CONFLICT = "409"
    THROTTLED = "429"
    ERROR = "500"
    UNAVAILABLE = "503"
    TIMEOUT = "timeout"
    HAND_OVER = "hand-over"
    CHILD_EDITED = "child-edited"
    CHILD_DELETED = "child-deleted"
    CHILD_RECREATED = "child-recreated"
    PARENT_EDITED = "parent-edited"
    PARENT_DELETED = "parent-deleted"
    PARENT_GONE = "parent-gone"
    STALE = "stale"
    REWIND = "rewind"
    UNOBSERVED = "unobserved"
    JOIN = "join"
    TWO_JOINS = "two-joins"
    LEAVE = "leave"
    MEMBER_CRASH = "member-crash"
    PARTITION = "partition"
    MAP_DELETED = "map-deleted"
    PAUSE = "pause"
    SKEW = "skew"
    STOP = "stop"
    STOP_CRASH = "stop-crash"
    LAG = "lag"
    LATE = "late"
    EXPIRED = "expired"


def named_modes(names: Iterable[str]) -> tuple[FaultMode, ...]:
    """The modes of these names; ConfigError if there is no such mode."""
    given = tuple(names)
    unknown = [name for name in given if name not in set(FaultMode)]
    if unknown:
        raise ConfigError(
            f"cannot try {unknown[0]!r}",
            because="there is no such mode",
            hint=", ".join(FaultMode),
        )
    return tuple(map(FaultMode, given))


EXPLANATIONS: dict[FaultMode, str] = {
    FaultMode.CRASH_BEFORE: "the process is killed before it is sent, and started again",
    FaultMode.CRASH_AFTER: "it is applied, the process killed before the answer, and started again",
    FaultMode.LOST: "it is applied, and the answer lost",
    FaultMode.CONFLICT: "it is refused with 409 Conflict",
    FaultMode.THROTTLED: "it is refused with 429, to be tried again in a second",
    FaultMode.ERROR: "it is refused with 500",
    FaultMode.UNAVAILABLE: "it is refused with 503, or, by a remote, as one that is away",
    FaultMode.TIMEOUT: "it is not applied, and no answer comes in time",
    FaultMode.HAND_OVER: "the leader is cut off, its lease runs out, and a standby takes over",
    FaultMode.CHILD_EDITED: "just before, somebody else edits a child",
    FaultMode.CHILD_DELETED: "just before, somebody else deletes a child",
    FaultMode.CHILD_RECREATED: "just before, somebody else deletes a child and makes it anew",
    FaultMode.PARENT_EDITED: "just before, somebody else edits the parent",
    FaultMode.PARENT_DELETED: "just before, somebody deletes the parent, and later makes it anew",
    FaultMode.PARENT_GONE: "somebody deletes the parent, for good; after a call that was the last",
    FaultMode.STALE: "watches of the kind stop, and the process restarts from an old list",
    FaultMode.REWIND: "a step later, the process restarts from a list older than this",
    FaultMode.UNOBSERVED: "neither this nor the next change is delivered, only what they come to",
    FaultMode.JOIN: "a further member joins, and gets its share of the ranges",
    FaultMode.TWO_JOINS: "two further members join at once",
    FaultMode.LEAVE: "the member that sends it stops in order, and starts again",
    FaultMode.MEMBER_CRASH: "the member that sends it is killed, and away for a minute",
    FaultMode.PARTITION: "the member that sends it is cut off until others have its ranges",
    FaultMode.MAP_DELETED: "somebody deletes the Lease with the shard map",
    FaultMode.PAUSE: "the member that sends it stands still for 20 s; then the write goes on",
    FaultMode.SKEW: "the wall clock of the member that sends it jumps by an hour",
    FaultMode.STOP: "the process is stopped in order, and starts again",
    FaultMode.STOP_CRASH: "the process is stopped in order, killed on its way out, starts again",
    FaultMode.LAG: "the process reads from a second server, which is some revisions behind",
    FaultMode.LATE: "it arrives when its sender does not wait any more",
    FaultMode.EXPIRED: "it is applied, and the leader stands still until its lease has run out",
}

CRASHES = (FaultMode.CRASH_BEFORE, FaultMode.CRASH_AFTER)
REFUSALS = (
    FaultMode.CONFLICT,
    FaultMode.THROTTLED,
    FaultMode.ERROR,
    FaultMode.UNAVAILABLE,
    FaultMode.TIMEOUT,
)
BY_OTHERS = (
    FaultMode.CHILD_EDITED,
    FaultMode.CHILD_DELETED,
    FaultMode.CHILD_RECREATED,
    FaultMode.PARENT_EDITED,
    FaultMode.PARENT_DELETED,
)
"""Between every two writes, so not before the first one."""
STOPS = (FaultMode.STOP, FaultMode.STOP_CRASH)
WRITE_MODES = (
    *CRASHES,
    FaultMode.LOST,
    *REFUSALS,
    FaultMode.HAND_OVER,
    FaultMode.PARENT_GONE,
    *STOPS,
)
EVENT_MODES = (FaultMode.STALE, FaultMode.REWIND, FaultMode.LAG)
START_MODES = (FaultMode.CRASH_BEFORE, FaultMode.LOST)
"""At what is read in a start: it changes nothing, so a crash after it is one before the next."""
RENEWAL_MODES = (FaultMode.LOST, FaultMode.LATE, FaultMode.EXPIRED)
"""At renewals of the lease of a leader, whose runs have a standby."""
MEMBER_MODES = (
    FaultMode.JOIN,
    FaultMode.TWO_JOINS,
    FaultMode.LEAVE,
    FaultMode.MEMBER_CRASH,
    FaultMode.PARTITION,
    FaultMode.MAP_DELETED,
    FaultMode.PAUSE,
    FaultMode.SKEW,
)
"""At every write of a manager that is sharded, also to Leases; it elects no leader who could hand
over."""
LEASE_MODES = (*CRASHES, FaultMode.LOST, *REFUSALS, *MEMBER_MODES)
"""At what a member writes to Leases."""
CALL_MODES = (*CRASHES, FaultMode.LOST, FaultMode.PARENT_GONE)
"""At every call; how a remote refuses is its model's to say."""

SPECS = "~specs="
_PATCHES = msgspec.json.Decoder(list[msgspec.Raw])
_FAULT = re.compile(r"([a-z0-9-]+)@([wcemsl])(\d+)")
_NAMED = re.compile(r"([a-z0-9-]+)@(([A-Za-z]+):[^:@~+]+:[^@~+]+#\d+)")
"""A mode at a point that has a name; its first word is a verb, or the type of an event."""


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """One mode at one point."""

    mode: FaultMode
    kind: PointKind
    index: int
    name: str = ""
    """Of a point that has one."""

    @property
    def point(self) -> str:
        """What tokens have for its point."""
        return self.name or f"{self.kind}{self.index}"

    def __str__(self) -> str:
        return f"{self.mode}@{self.point}"


@dataclass(frozen=True, slots=True)
class RunToken:
    """Which run: its faults, the order of its callbacks, and how much of its script."""

    faults: tuple[PlannedFault, ...] = ()
    seed: int = 0
    steps: int | None = None
    gone: str = ""
    """The object that is deleted for good in the calm after the last step: only ours, to compare
    with, and no part of what a token is written as."""
    specs: tuple[bytes, ...] = ()
    """What users apply one after the other, each a merge patch in JSON."""
    elected: bool = False
    """Whether there is a standby though no fault needs one: only ours, to find the renewals."""

    @property
    def elects(self) -> bool:
        """Whether the processes compete for a lease."""
        return self.elected or any(
            each.mode is FaultMode.HAND_OVER or each.kind is PointKind.RENEWAL
            for each in self.faults
        )

    @property
    def is_single(self) -> bool:
        """Whether nothing is changed before its one point: it must be reached."""
        if len(self.faults) != 1 or self.seed or self.steps is not None:
            return False
        # Who has to be elected first may find the world further on.
        return self.faults[0].mode is not FaultMode.HAND_OVER

    def __str__(self) -> str:
        text = "+".join(map(str, self.faults)) or "undisturbed"
        text += f"~seed={self.seed}" if self.seed else ""
        text += f"~steps={self.steps}" if self.steps is not None else ""
        return text + (f"{SPECS}[{b','.join(self.specs).decode()}]" if self.specs else "")

    @staticmethod
    def parse(text: str) -> RunToken:
        """The run that a token names; ConfigError if it names none."""
        before, _, given = text.partition(SPECS)
        named, *options = before.split("~")
        values = dict(option.partition("=")[::2] for option in options)
        try:
            faults = () if named == "undisturbed" else tuple(map(_fault, named.split("+")))
            steps = int(values.pop("steps")) if "steps" in values else None
            seed = int(values.pop("seed", "0"))
            specs = tuple(map(bytes, _PATCHES.decode(given))) if given else ()
            if values:
                raise ValueError(f"it has no option {next(iter(values))!r}")
        except (ValueError, msgspec.DecodeError) as error:
            raise ConfigError(
                f"cannot replay {text!r}",
                because=str(error),
                hint="give a token as a failure prints it, such as crash-after@w3",
            ) from None
        return RunToken(faults, seed, steps, specs=specs)


def _fault(text: str) -> PlannedFault:
    found = _FAULT.fullmatch(text) or _NAMED.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no mode at a point")
    mode, second, third = found.groups()
    if mode not in set(FaultMode):
        raise ValueError(f"there is no mode {mode!r}")
    if found.re is _FAULT:
        return PlannedFault(FaultMode(mode), PointKind(second), int(third))
    return named_fault(FaultMode(mode), second)


def named_fault(mode: FaultMode, name: str) -> PlannedFault:
    """A mode at a point that has a name: an event if it begins with the type of one."""
    kind = PointKind.EVENT if name.partition(":")[0].isupper() else PointKind.WRITE
    return PlannedFault(mode, kind, 0, name)


def faults_at(
    points: Sequence[Point],
    refusals: Mapping[str, Sequence[FaultMode]],
    *,
    replicas: int = 1,
) -> list[PlannedFault]:
    """Every mode at every point, in the order of the points.

    `refusals` has, by the name of a remote, how it can refuse. Of `replicas` that all work, each is
    a member.
    """
    again = _change_again(points)
    left_out = {FaultMode.HAND_OVER, *STOPS} if replicas > 1 else set(MEMBER_MODES)
    return [
        PlannedFault(mode, point.kind, point.index)
        for point in points
        for mode in _modes_at(point, refusals, again)
        if mode not in left_out
    ]


def _modes_at(
    point: Point, refusals: Mapping[str, Sequence[FaultMode]], again: set[int]
) -> Sequence[FaultMode]:
    match point.kind:
        case PointKind.WRITE:
            by_others = BY_OTHERS if point.index else ()
            return (*WRITE_MODES, *MEMBER_MODES, *by_others)
        case PointKind.CALL:
            return (*CALL_MODES, *refusals.get(point.remote, ()))
        case PointKind.MEMBER:
            return LEASE_MODES
        case PointKind.EVENT:
            paired = (FaultMode.UNOBSERVED,) if point.index in again else ()
            return (*EVENT_MODES, *paired)
        case PointKind.START:
            return START_MODES
        case PointKind.RENEWAL:
            # Only runs that elect have them, and are planned apart.
            return ()


def renewal_faults(points: Iterable[Point]) -> list[PlannedFault]:
    """Every mode at every renewal."""
    return [
        PlannedFault(mode, point.kind, point.index)
        for point in points
        if point.kind is PointKind.RENEWAL
        for mode in RENEWAL_MODES
    ]


def _change_again(points: Sequence[Point]) -> set[int]:
    """The events that another one of the same object follows: the pairs of successive events."""
    events = [point for point in points if point.kind is PointKind.EVENT]
    last = {point.subject: point.index for point in events}
    return {point.index for point in events if point.index < last[point.subject]}
