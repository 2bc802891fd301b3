"""What came of exploring a foreign program, in lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from quintant.testing.explore.foreign.record import ForeignRecord
from quintant.testing.explore.foreign.states import SelfDifference
from quintant.testing.explore.injection.trace import PointKind
from quintant.testing.explore.report.findings import FailingRun, Findings, Untried

UNDISTURBED = 3
"""Runs without faults: what they do not agree on is chance."""
MOST_LINES = 10
"""Of a list that is for information."""


class ForeignFailure(Struct, frozen=True):
    """A run after which something does not hold, and how often it did not."""

    token: str
    why: str
    story: str
    times: int = 1
    tries: int = 1

    @property
    def is_certain(self) -> bool:
        """Whether it failed every time."""
        return self.times == self.tries

    def finding(self, repeat: Callable[[str], str]) -> FailingRun:
        """The same for every format."""
        story = tuple(self.story.splitlines())
        return FailingRun(self.token, self.why, story, repeat(self.token), self.times, self.tries)

    def __str__(self) -> str:
        return f"{self.token} ({self.times} of {self.tries}): {self.why}\n{self.story}"


@dataclass(slots=True)
class ForeignReport:
    """What came of it."""

    title: str
    points: Counter[PointKind] = field(default_factory=Counter)
    undisturbed_runs: int = 0
    planned: int = 0
    runs: int = 0
    suspected: int = 0
    """Runs that failed once, and are being made again."""
    seconds: float = 0.0
    failures: list[ForeignFailure] = field(default_factory=list)
    at_times: list[ForeignFailure] = field(default_factory=list)
    """What failed, and did not when it was made again."""
    never_came: list[str] = field(default_factory=list)
    """Runs whose point did not come."""
    not_made: list[str] = field(default_factory=list)
    differing: Sequence[SelfDifference] = ()
    polls: frozenset[str] = frozenset()
    calm: float = 0.0
    without_effect: Sequence[str] = ()
    """Properties of a spec that showed nowhere."""
    tried: list[str] = field(default_factory=list)
    """The token of every run that was made."""
    lines: Sequence[str] = ()
    """Of a run without faults."""
    run_seconds: float = 0.0
    start_seconds: float = 0.0

    def note_undisturbed(
        self,
        records: Sequence[ForeignRecord],
        differing: Sequence[SelfDifference],
        polls: frozenset[str],
    ) -> None:
        """What the runs without faults have shown."""
        self.points = Counter(point.kind for point in records[0].trace.points)
        self.differing, self.polls, self.calm = differing, polls, records[0].calm
        self.lines = records[0].trace.lines
        self.run_seconds = max(each.seconds for each in records)
        self.start_seconds = max(each.start_seconds for each in records)

    @property
    def is_recorded(self) -> bool:
        """Whether the runs without faults are made, and what they have in common is known."""
        return self.calm > 0

    @property
    def judged(self) -> int:
        """How many runs were compared with those without faults."""
        return self.runs - len(self.never_came) - len(self.not_made)

    @property
    def undisturbed(self) -> str:
        """What is known before the first fault."""
        return "\n".join(
            [
                f"{self.title}: {self.points[PointKind.WRITE]} writes, "
                f"{self.points[PointKind.EVENT]} events; {self.run_seconds:.1f} s a run, "
                f"{self.start_seconds:.1f} s of it for the program to start; "
                f"calm after {self.calm:g} s of its clock",
                *self.notes,
            ]
        )

    @property
    def notes(self) -> list[str]:
        """What runs without faults have shown that is not compared."""
        return [
            *_listed("differs from itself, and is not compared", self.differing),
            *_listed("goes on at rest", sorted(self.polls)),
        ]

    @property
    def summary(self) -> str:
        """How much was tried, and what came of it, in one line."""
        more = [
            f"{count} {what}"
            for count, what in (
                (len(self.at_times), "at times"),
                (len(self.never_came), "points that never came"),
                (len(self.not_made), "runs that could not be made"),
            )
            if count
        ]
        return "; ".join(
            [
                f"{self.title}: {self.runs} of {self.planned} runs in {self.seconds:.0f} s",
                f"{len(self.failures)} failures",
                *more,
            ]
        )

    def findings(self, file: str, repeat: Callable[[str], str]) -> Findings:
        """The same for every format; `file` is that of the scenario, `repeat` makes commands."""
        notes = [str(each) for each in self.differing]
        untried = [(token, "the point never came") for token in self.never_came]
        untried += [(token, why) for token, _, why in (e.partition(": ") for e in self.not_made)]
        return Findings(
            self.title,
            file,
            self.summary,
            self.seconds,
            tuple(self.tried),
            tuple(each.finding(repeat) for each in self.failures),
            tuple(each.finding(repeat) for each in self.at_times),
            tuple(Untried(*each) for each in untried),
            (
                *(f"differs from itself, and is not compared: {each}" for each in notes),
                *(f"goes on at rest: {each}" for each in sorted(self.polls)),
            ),
            tuple(self.lines),
        )

    def __str__(self) -> str:
        return "\n".join(
            [
                *_listed("the point never came", self.never_came),
                *_listed("could not be made", self.not_made),
                *_listed("shows in no child and in no status", self.without_effect),
                self.summary,
                *(() if self.judged else ("error: no run was judged, so nothing is known",)),
            ]
        )


def _listed(title: str, lines: Sequence[object]) -> Iterator[str]:
    for line in lines[:MOST_LINES]:
        yield f"  {title}: {line}"
    if len(lines) > MOST_LINES:
        yield f"  {title}: {len(lines) - MOST_LINES} more"
