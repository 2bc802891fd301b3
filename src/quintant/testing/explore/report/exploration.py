"""What came of an exploration: how much was tried, and what does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from quintant.testing.explore.injection.trace import PointKind


@dataclass(frozen=True, slots=True)
class ExplorationFailure:
    """A run after which something does not hold."""

    token: str
    why: str
    story: str

    def __str__(self) -> str:
        return f"{self.token}: {self.why}\n{self.story}"


@dataclass(slots=True)
class ExplorationReport:
    """What came of exploring one scenario."""

    title: str
    points: Counter[PointKind] = field(default_factory=Counter)
    planned: int = 0
    """How many runs there are with every mode at every point, and with every seed."""
    runs: int = 0
    """How many of them were made: all, unless there was a budget."""
    same: int = 0
    """How many of those needed not be made: they are the same as another one by construction."""
    seconds: float = 0.0
    failures: list[ExplorationFailure] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    """The token of every run that was made."""
    undisturbed: Sequence[str] = ()
    """The lines of the run without faults."""

    def note(self, token: str, failure: ExplorationFailure | None, *, same: bool = False) -> None:
        """A run was made, or is the `same` as one that was."""
        self.runs += 1
        self.same += same
        self.tried.append(token)
        if failure is not None:
            self.failures.append(failure)

    def check(self) -> None:
        """AssertionError with every failure, if there is one."""
        if self.failures:
            raise AssertionError(str(self))

    @property
    def summary(self) -> str:
        """All of it in one line."""
        points = self.points
        leases = f", {found} writes of Leases" if (found := points[PointKind.MEMBER]) else ""
        same = f" ({self.same} the same as others)" if self.same else ""
        return (
            f"{self.title}: {points[PointKind.WRITE]} writes, {points[PointKind.CALL]} calls, "
            f"{points[PointKind.EVENT]} events{leases}; {self.runs} of {self.planned} runs{same} "
            f"in {self.seconds:.1f} s; {len(self.failures)} failures"
        )

    def __str__(self) -> str:
        return "\n\n".join([self.summary, *map(str, self.failures)])
