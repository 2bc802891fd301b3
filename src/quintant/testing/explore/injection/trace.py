"""What happened in a run, moment by moment: the points at which another run can be disturbed.

A point is a write to the API, a call of a remote that changes something, an event that a watch
delivers, what a member of a sharded manager writes to Leases of itself and the map, what a process
reads while it starts, or the first renewal of a leader's lease after any of them. Points of a sort
are numbered in the order in which they come, so a number names the same moment in every run of
a scenario up to the first fault.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum


class PointKind(StrEnum):
    """The sorts of points, by the letter that tokens have for them."""

    WRITE = "w"
    CALL = "c"
    EVENT = "e"
    MEMBER = "m"
    START = "s"
    RENEWAL = "l"


@dataclass(frozen=True, slots=True)
class Point:
    """One moment at which a run can be disturbed."""

    kind: PointKind
    index: int
    text: str
    """What a person reads: `apply configmaps default/a`."""
    step: int
    """How many times the world had been quiet before."""
    subject: str = ""
    """Whom it is about: the table and key of an object, or the name of a remote."""
    revision: int = 0
    """Of an event, that of its object."""
    remote: str = ""
    """Of a call, whose."""
    name: str = ""
    """What it is, where numbers differ from run to run: `delete:pods:default/a#1`."""

    @property
    def key(self) -> str:
        """What a token has for it."""
        return self.name or f"{self.kind}{self.index}"

    def __str__(self) -> str:
        return self.name or f"{self.key} {self.text}"


@dataclass(slots=True)
class Trace:
    """Everything that one run did."""

    points: list[Point] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """The story, a line per step, point, fault and restart."""
    steps: int = 0
    remarks: int = 0
    """How much happened that is no point: what the script did, above all."""
    frozen: bool = False
    _counts: dict[PointKind, int] = field(default_factory=lambda: dict.fromkeys(PointKind, 0))
    _digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    @property
    def moments(self) -> int:
        """How many points there were so far, without the renewals of leases."""
        return sum(self._counts.values()) - self._counts[PointKind.RENEWAL]

    def count(self, kind: PointKind) -> int:
        """How many points of a sort there were so far; the number of the next one."""
        return self._counts[kind]

    def point(self, kind: PointKind, text: str, **more: str | int) -> Point:
        """Note that a point was reached."""
        index = self._counts[kind]
        self._counts[kind] = index + 1
        made = Point(kind, index, text, self.steps, **more)  # type: ignore[arg-type]
        if not self.frozen:
            self.points.append(made)
            self.lines.append(f"  {made}")
        return made

    def tell(self, text: str) -> None:
        """Note something that is no point."""
        if not self.frozen:
            self.remarks += 1
            self.lines.append(text)

    def freeze(self) -> None:
        """The run is over: what comes now is how it is cleared away."""
        self.frozen = True

    def digest_of(self, *parts: bytes) -> None:
        """Add what was sent or answered."""
        for part in () if self.frozen else parts:
            self._digest.update(part)
            self._digest.update(b"\0")

    @property
    def digest(self) -> str:
        """Of all requests and answers, in their order."""
        return self._digest.hexdigest()

    def of(self, kind: PointKind) -> list[Point]:
        """The points of a sort."""
        return [each for each in self.points if each.kind is kind]
