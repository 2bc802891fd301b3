"""Explores a scenario: records it undisturbed, disturbs it at every point, and compares.

    explore_scenario(Greeting).check()

Each failure has a token: `replay_run(Greeting, token)` makes that run again, under a debugger too.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from quintant.core.errors import ConfigError
from quintant.testing.explore.checks import broken
from quintant.testing.explore.fault import FaultMode, RunToken, faults_at
from quintant.testing.explore.normalise import differences
from quintant.testing.explore.real_time import no_real_time
from quintant.testing.explore.run import RunRecord, ScenarioRunner
from quintant.testing.explore.scenario import Scenario
from quintant.testing.explore.story import told
from quintant.testing.explore.trace import PointKind

# Real seconds that a first run may wait, for the files of modules that it loads.
LOADING_SECONDS = 2.5


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
    """What came of an exploration."""

    title: str
    points: Counter[PointKind] = field(default_factory=Counter)
    planned: int = 0
    """How many runs there would be with every mode at every point."""
    runs: int = 0
    seconds: float = 0.0
    failures: list[ExplorationFailure] = field(default_factory=list)

    def check(self) -> None:
        """AssertionError with every failure, if there is one."""
        if self.failures:
            raise AssertionError(str(self))

    def __str__(self) -> str:
        points = self.points
        head = (
            f"{self.title}: {points[PointKind.WRITE]} writes, {points[PointKind.CALL]} calls, "
            f"{points[PointKind.EVENT]} events; {self.runs} of {self.planned} runs in "
            f"{self.seconds:.1f} s; {len(self.failures)} failures"
        )
        return "\n\n".join([head, *map(str, self.failures)])


class Explorer:
    """Knows the undisturbed run of a scenario, and compares others with it."""

    def __init__(self, scenario: type[Scenario], *, target: str = "") -> None:
        """`target` is where the scenario can be found, for the command that a failure names."""
        self._runner = ScenarioRunner(scenario)
        self._target = target
        self.title = scenario.title()
        self.undisturbed = self._recorded()
        self.refusals = {name: model.refusals for name, model in scenario().remotes().items()}

    @property
    def failure(self) -> ExplorationFailure | None:
        """What does not hold even without any fault."""
        record = self.undisturbed
        why = next(iter(record.violations), "")
        return self._failure(record, why) if why else None

    def plan(self, modes: Iterable[FaultMode] = FaultMode) -> list[RunToken]:
        """A run for every mode at every point."""
        wanted = {*modes} & {*self._runner.scenario.modes}
        faults = faults_at(self.undisturbed.trace.points, self.refusals)
        return [RunToken((each,)) for each in faults if each.mode in wanted]

    def run(self, token: RunToken) -> ExplorationFailure | None:
        """Make one run; what does not hold of it, if anything."""
        record = self._runner.run(token)
        if record.unreached:
            raise ConfigError(
                f"cannot make the run {token}",
                because=f"the scenario never comes to {', '.join(record.unreached)}",
                hint="explore again: the scenario or its managers have changed",
            )
        why = broken(self.undisturbed, record)
        return self._failure(record, why) if why else None

    def _failure(self, record: RunRecord, why: str) -> ExplorationFailure:
        return ExplorationFailure(str(record.token), why, told(record, why, self._target))

    def _recorded(self) -> RunRecord:
        # Of the first run, modules are loaded: how long that waits is not asked.
        with no_real_time(self.title, most=LOADING_SECONDS):
            first = self._runner.run()
        with no_real_time(self.title):
            second = self._runner.run()
        if first.stopped:
            raise _stopped(self.title, first)
        if first.digest != second.digest:
            raise _differs(self.title, first, second)
        return first


def explore_scenario(
    scenario: type[Scenario], *, modes: Iterable[FaultMode] = FaultMode, target: str = ""
) -> ExplorationReport:
    """Make a run for every mode at every point of a scenario."""
    began = time.perf_counter()
    explorer = Explorer(scenario, target=target)
    tokens = explorer.plan(modes)
    points = Counter(point.kind for point in explorer.undisturbed.trace.points)
    report = ExplorationReport(explorer.title, points, len(tokens))
    if explorer.failure is not None:
        report.failures.append(explorer.failure)
        return report
    for token in tokens:
        failure = explorer.run(token)
        report.runs += 1
        if failure is not None:
            report.failures.append(failure)
    report.seconds = time.perf_counter() - began
    return report


def replay_run(scenario: type[Scenario], token: str) -> None:
    """Make one run again; AssertionError if something does not hold of it."""
    failure = Explorer(scenario).run(RunToken.parse(token))
    if failure is not None:
        raise AssertionError(str(failure))


def run_tokens(scenario: type[Scenario], modes: Iterable[FaultMode] = FaultMode) -> Sequence[str]:
    """The token of every run of `explore_scenario`: parameters for a test of each."""
    return [str(each) for each in Explorer(scenario).plan(modes)]


def _stopped(title: str, record: RunRecord) -> ConfigError:
    kind, _, why = record.stopped.partition(": ")
    if kind in ("NeverQuiet", "LoopStuck"):
        return ConfigError(
            f"{title} never gets quiet",
            because=why.partition("\ntry: ")[0],
            hint="does a reconcile wake itself? or set `bound` to the virtual seconds it needs",
        )
    return ConfigError(f"{title} fails without any fault", because=record.stopped)


def _differs(title: str, first: RunRecord, second: RunRecord) -> ConfigError:
    pairs = zip(first.trace.lines, second.trace.lines, strict=False)
    found = next((f"once {a.strip()!r}, once {b.strip()!r}" for a, b in pairs if a != b), "")
    states = next(differences(first.states, second.states), "")
    return ConfigError(
        f"{title} differs from itself without any fault",
        because=states or found or "a request or an answer was another one the second time",
        hint="use ctx.clock, ctx.random and injected ids instead of datetime.now() and random",
    )
