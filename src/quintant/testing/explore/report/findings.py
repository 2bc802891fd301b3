"""What came of an exploration, as a value: of our own scenarios and of programs of any framework.

Every format of a report is made of this, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.explore.report.exploration import ExplorationReport

UNDISTURBED = "undisturbed"
"""What a run without faults is called."""
REPEAT = "  repeat: "
"""How the line of a story begins that is a field here."""


class FailingRun(Struct, frozen=True):
    """A run after which something does not hold."""

    token: str
    why: str
    story: tuple[str, ...]
    """Its lines, as a person reads them."""
    repeat: str = ""
    """The command that makes the run again."""
    times: int = 1
    """How often it failed,"""
    tries: int = 1
    """of so many."""

    @property
    def modes(self) -> tuple[str, ...]:
        """What was done in the run; empty without faults."""
        faults = self.token.partition("~")[0].split("+")
        return tuple(mode for each in faults if (mode := each.partition("@")[0]) in set(FaultMode))


class Untried(Struct, frozen=True):
    """A run that was planned and came to nothing."""

    token: str
    why: str


class Findings(Struct, frozen=True):
    """What came of exploring one scenario."""

    title: str
    file: str
    """Of the scenario, or of the sample, as it was given."""
    summary: str
    seconds: float
    tried: tuple[str, ...]
    """The token of every run that was made."""
    failures: tuple[FailingRun, ...] = ()
    at_times: tuple[FailingRun, ...] = ()
    """What failed, and did not when it was made again."""
    untried: tuple[Untried, ...] = ()
    notes: tuple[str, ...] = ()
    """What the runs without faults have shown."""
    undisturbed: tuple[str, ...] = ()
    """The lines of the run without faults."""

    def outcomes(self) -> Iterator[tuple[str, FailingRun | Untried | None]]:
        """Every run with what came of it; None if it was as without any fault."""
        known: dict[str, FailingRun | Untried] = {each.token: each for each in self.untried}
        known |= {each.token: each for each in (*self.at_times, *self.failures)}
        for token in dict.fromkeys((*self.tried, *known)):
            yield token, known.get(token)


def scenario_findings(report: ExplorationReport, target: str) -> Findings:
    """What came of a scenario on our runtime; `target` is where it can be found."""
    failures = (
        FailingRun(
            each.token,
            each.why,
            tuple(line for line in each.story.splitlines() if not line.startswith(REPEAT)),
            f"quintant explore {target} --replay '{each.token}'",
        )
        for each in report.failures
    )
    return Findings(
        report.title,
        target.rpartition(":")[0] or target,
        report.summary,
        report.seconds,
        tuple(report.tried),
        tuple(failures),
        undisturbed=tuple(report.undisturbed),
    )
