"""Explores scenarios: all points, or as many as a budget allows, on all cores.

    explore_scenario(Greeting).check()

Each failure has a token: `replay_run(Greeting, token)` makes that run again, under a debugger too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from quintant.core.errors import ConfigError
from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.injection.fault import FaultMode, RunToken, named_modes
from quintant.testing.explore.loading import target_of
from quintant.testing.explore.pairs import plan_pairs
from quintant.testing.explore.report.exploration import ExplorationFailure, ExplorationReport
from quintant.testing.explore.scenario import Scenario
from quintant.testing.explore.seeds import sampled, seeded_runs
from quintant.testing.explore.shrink import shrunk
from quintant.testing.explore.worker import WorkOrder
from quintant.testing.explore.worker_pool import WorkerPool

# Below so many runs, starting processes takes longer than it saves.
FEW_RUNS = 300
# Failures that are shrunk: who has more reads these first.
SHRUNK = 5

Progress = Callable[[ExplorationReport], None]
"""Told after every run."""


@dataclass(frozen=True, slots=True)
class ExplorationOptions:
    """How much is tried, and by whom."""

    modes: Iterable[FaultMode] = tuple(FaultMode)
    seeds: range = range(0)
    """With seeds, a run for each instead of one for every point."""
    pairs: bool = False
    """Two faults in each run instead of one."""
    budget: float | None = None
    """Real seconds for all scenarios together; what does not fit is sampled, and counted."""
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    timer: Callable[[], float] = time.perf_counter
    """What the seconds of the budget are measured by."""


def explore_scenario(
    scenario: type[Scenario],
    *,
    modes: Iterable[str] = FaultMode,
    seeds: int = 0,
    pairs: bool = False,
    budget: float | None = None,
    jobs: int | None = None,
) -> ExplorationReport:
    """Make a run for every mode at every point of a scenario, or one for each of `seeds`.

    With `pairs` there are two faults in each run, the second in what follows from the first. With a
    `budget` in seconds, no more than fit are made. `jobs` is how many processes share them.
    """
    options = ExplorationOptions(
        named_modes(modes), range(1, seeds + 1), pairs, budget, jobs or os.cpu_count() or 1
    )
    (report,) = explore_scenarios({target_of(scenario): scenario}, options)
    return report


def explore_scenarios(
    scenarios: Mapping[str, type[Scenario]],
    options: ExplorationOptions = ExplorationOptions(),
    progress: Progress = lambda report: None,
) -> Iterator[ExplorationReport]:
    """Explore scenarios, by the targets under which other processes find them, one by one."""
    timer = options.timer
    began = timer()
    campaigns = [_Campaign(target, scenario, options) for target, scenario in scenarios.items()]
    count = sum(len(each.tokens) for each in campaigns)
    jobs = options.jobs if count >= FEW_RUNS and all(scenarios) else 1
    with WorkerPool(jobs) as pool:
        for number, campaign in enumerate(campaigns):
            share = None
            if options.budget is not None:
                left = max(0.0, options.budget - (timer() - began))
                share = fair_share([each.needs / jobs for each in campaigns[number:]], left)
            yield campaign.explore(pool, jobs, share, progress)


def fair_share(needs: Sequence[float], left: float) -> float:
    """How many of the seconds that are left the first of some campaigns may take.

    All get the same, but what those that need less leave over is shared by the others.
    """
    for number, need in enumerate(sorted(needs)):
        level = left / (len(needs) - number)
        if need > level:
            return level
        left -= need
    return max(needs) + left


class _Campaign:
    """The exploration of one scenario."""

    def __init__(self, target: str, scenario: type[Scenario], options: ExplorationOptions) -> None:
        self._timer = options.timer
        began = self._timer()
        self._explorer = Explorer(scenario, target=target)
        self._run_seconds = (self._timer() - began) / 2
        self.tokens = _planned(self._explorer, options)
        self._target = target
        self.report = ExplorationReport(
            self._explorer.title,
            self._explorer.points,
            len(self.tokens),
            undisturbed=self._explorer.undisturbed.trace.lines,
        )

    @property
    def needs(self) -> float:
        """About how many seconds of one core all of it takes."""
        return self._run_seconds * len(self.tokens)

    def explore(
        self, pool: WorkerPool, jobs: int, share: float | None, progress: Progress
    ) -> ExplorationReport:
        began, report = self._timer(), self.report
        if self._explorer.failure is not None:
            report.failures.append(self._explorer.failure)
            return report
        tokens = self.tokens if share is None else sampled(self.tokens)
        alike = self._explorer.alike(tokens)
        others = {str(first): each for first, each in alike.items()}
        for token, failure in self._made(pool, jobs, tuple(alike)):
            report.seconds = self._timer() - began
            report.note(token, failure)
            progress(report)
            for other in others[token]:
                # What fails is told of each, in its own words.
                failed = None if failure is None else self._explorer.run(other)
                report.note(str(other), failed, same=failure is None)
                progress(report)
            if share is not None and report.seconds > share:
                break
        report.failures.sort(key=lambda each: _order(self.tokens, each))
        report.failures[:SHRUNK] = [shrunk(self._explorer, f) for f in report.failures[:SHRUNK]]
        report.seconds = self._timer() - began
        return report

    def _made(
        self, pool: WorkerPool, jobs: int, tokens: Sequence[RunToken]
    ) -> Iterator[tuple[str, ExplorationFailure | None]]:
        if jobs == 1:
            yield from ((str(token), self._explorer.run(token)) for token in tokens)
            return
        orders = [WorkOrder(self._target, str(token)) for token in tokens]
        for order, result in pool.make(orders):
            if result.error:
                raise ConfigError(f"cannot explore {self._target}", because=result.error)
            yield order.token, result.failure


def _planned(explorer: Explorer, options: ExplorationOptions) -> list[RunToken]:
    if options.pairs:
        return plan_pairs(explorer, options.modes)
    plan = explorer.plan(options.modes)
    return seeded_runs(plan, options.seeds) if options.seeds else plan


def _order(tokens: Sequence[RunToken], failure: ExplorationFailure) -> int:
    return next((at for at, token in enumerate(tokens) if str(token) == failure.token), 0)


def replay_run(scenario: type[Scenario], token: str) -> None:
    """Make one run again; AssertionError if something does not hold of it."""
    failure = _remembered(scenario).run(RunToken.parse(token))
    if failure is not None:
        raise AssertionError(str(failure))


def run_tokens(scenario: type[Scenario], modes: Iterable[str] = FaultMode) -> Sequence[str]:
    """The token of every run of `explore_scenario`: parameters for a test of each."""
    return [str(each) for each in _remembered(scenario).plan(named_modes(modes))]


def _remembered(scenario: type[Scenario]) -> Explorer:
    found = _EXPLORERS.get(scenario)
    if found is None:
        found = _EXPLORERS[scenario] = Explorer(scenario, target=target_of(scenario))
    return found


_EXPLORERS: WeakKeyDictionary[type[Scenario], Explorer] = WeakKeyDictionary()
"""The undisturbed runs that are known, for tests with a parameter per run."""
