"""Explores the specs of scenarios: so many cases of each, and what came of them.

explore_specs(GreeterSpecs, 200).check()
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.loading import target_of
from quintant.testing.explore.report.exploration import ExplorationFailure, ExplorationReport
from quintant.testing.explore.specs.checks import breaches_of_effect, sort_of
from quintant.testing.explore.specs.explorer import SpecExplorer
from quintant.testing.explore.specs.scenario import SpecScenario

Progress = Callable[[ExplorationReport], None]
CONSISTENT = "consistent"
"""The token of a failure that no single run shows."""


@dataclass(slots=True)
class SpecReport(ExplorationReport):
    """What came of the specs of one scenario."""

    properties: int = 0
    """How many properties its spec has,"""
    covered: int = 0
    """and how many of them were set to something."""
    untaken: list[str] = field(default_factory=list)
    """Properties of which the server took no value that was tried."""
    one_sided: list[str] = field(default_factory=list)
    """Rules that refused nothing that was tried."""

    @property
    def summary(self) -> str:
        notes = [
            f"{self.title}: {self.runs} of {self.planned} specs of "
            f"{self.covered} of {self.properties} properties in {self.seconds:.1f} s; "
            f"{len(self.failures)} failures",
            *(f"  no value of {each} was taken" for each in self.untaken),
            *(f"  nothing was refused by the rule {each}" for each in self.one_sided),
        ]
        return "\n".join(notes)


def explore_specs(scenario: type[SpecScenario], count: int, *, seed: int = 1) -> SpecReport:
    """Try so many ways to change the spec of a scenario."""
    (report,) = explore_all_specs({target_of(scenario): scenario}, count, seed)
    return report


def explore_all_specs(
    scenarios: Mapping[str, type[SpecScenario]],
    count: int,
    seed: int,
    progress: Progress = lambda report: None,
    timer: Callable[[], float] = time.perf_counter,
) -> Iterator[SpecReport]:
    """Try so many ways to change each of some specs."""
    for target, scenario in scenarios.items():
        began = timer()
        explorer = SpecExplorer(scenario, target)
        plan = explorer.plan(count, seed)
        report = SpecReport(explorer.title, planned=len(plan.cases))
        report.properties, report.covered = len(plan.properties), len(plan.tried)
        report.untaken, report.one_sided = list(plan.untaken), list(plan.one_sided)
        known: set[str] = set()
        for case in plan.cases:
            failure = explorer.run_case(case)
            report.runs += 1
            report.tried.append(str(explorer.token(case)))
            if failure is not None and (sort := sort_of(failure.why)) not in known:
                known.add(sort)
                report.failures.append(failure)
            report.seconds = timer() - began
            progress(report)
        # Who has tried a few properties only does not know where the others would show.
        if report.covered == report.properties:
            taken = {each.property.name for each in plan.tried if each.taken}
            for why in breaches_of_effect(taken, explorer.effective, scenario.without_effect):
                report.failures.append(ExplorationFailure(CONSISTENT, why, ""))
        yield report


def replay_specs(scenario: type[SpecScenario], token: str) -> ExplorationFailure | None:
    """Make one run with specs again; what does not hold of it, if anything."""
    return SpecExplorer(scenario, target_of(scenario)).run(RunToken.parse(token))
