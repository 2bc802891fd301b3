"""Explorations as a whole: over cores, within budgets, and from the command line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner

from quintant.cli import main
from quintant.core.errors import ConfigError
from quintant.testing import (
    ExplorationReport,
    ScenarioWorld,
    explore_scenario,
    replay_run,
    run_tokens,
)
from quintant.testing.explore.campaign import (
    ExplorationOptions,
    explore_scenarios,
    fair_share,
)
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.loading import load_scenario, load_scenarios, target_of
from quintant.testing.explore.worker import WorkOrder
from quintant.testing.explore.worker_pool import WorkerPool
from testbeds import exploring
from testbeds.exploring import GreetingCreated, GreetingCrowd, GreetingLife, MadeTwice

FILE = str(Path(exploring.__file__))


def test_workers_find_what_one_process_finds() -> None:
    orders = [WorkOrder(target_of(MadeTwice), token) for token in run_tokens(MadeTwice)]
    with WorkerPool(2) as pool:
        found = {order.token: result.failure for order, result in pool.make(orders)}
    failed = {token: failure.why for token, failure in found.items() if failure is not None}
    alone = explore_scenario(MadeTwice)
    assert len(found) == alone.planned
    assert failed.keys() == {each.token for each in alone.failures}


def test_a_worker_says_what_is_wrong_with_a_scenario() -> None:
    with WorkerPool(2) as pool:
        (_, result), *_ = pool.make([WorkOrder(f"{FILE}:Nothing", "lost@w0")] * 2)
    assert "cannot explore" in result.error


def test_whoever_stops_looking_stops_the_workers() -> None:
    orders = [WorkOrder(target_of(GreetingLife), token) for token in run_tokens(GreetingLife)]
    with WorkerPool(2) as pool:
        for _ in pool.make(orders):
            break


def test_without_a_budget_everything_is_made() -> None:
    (report,) = explore_scenarios({"": GreetingCreated})
    assert report.runs == report.planned


def looks() -> Callable[[], float]:
    """A clock by which every look takes a second, and so every run."""
    return partial(next, count(0.0))


def test_a_budget_samples_and_counts() -> None:
    options = ExplorationOptions(budget=30, jobs=1, timer=looks())
    first, second = explore_scenarios({"a": GreetingLife, "b": GreetingCreated}, options)
    for report in (first, second):
        assert 0 < report.runs < report.planned
        assert f"{report.runs} of {report.planned} runs" in report.summary


@pytest.mark.parametrize(
    ("needs", "share"),
    [
        ([100.0, 100.0], 30.0),
        ([100.0, 10.0], 50.0),
        ([10.0, 100.0, 100.0], 25.0),
        ([100.0, 10.0, 10.0, 100.0], 20.0),
        ([100.0], 60.0),
        ([10.0, 20.0], 50.0),
    ],
)
def test_what_small_scenarios_leave_over_is_shared_by_the_large(
    needs: list[float], share: float
) -> None:
    assert fair_share(needs, 60.0) == share


def test_no_scenario_is_crowded_out_by_a_larger_one() -> None:
    options = ExplorationOptions(budget=30, jobs=1, timer=looks())
    scenarios = {"large": GreetingCrowd, "small": GreetingCreated}
    large, small = explore_scenarios(scenarios, options)
    assert small.runs / small.planned >= large.runs / large.planned


def test_progress_is_told_after_every_run() -> None:
    told: list[int] = []

    def progress(report: ExplorationReport) -> None:
        told.append(report.runs)

    (report,) = explore_scenarios({"": GreetingCreated}, progress=progress)
    assert told == list(range(1, report.planned + 1))


def test_failures_are_shrunk_to_the_steps_they_need() -> None:
    class Longer(MadeTwice):
        async def script(self, world: ScenarioWorld) -> None:
            await super().script(world)
            await world.advance(1)
            await world.quiet()

    failure = explore_scenario(Longer).failures[0]
    assert failure.token == "crash-after@w0~steps=1"
    with pytest.raises(AssertionError, match="after step 1"):
        replay_run(Longer, failure.token)


@pytest.mark.parametrize("token", run_tokens(GreetingCreated)[:3])
def test_a_run_is_a_parameter_of_a_test(token: str) -> None:
    replay_run(GreetingCreated, token)


def test_tokens_are_read_as_they_are_written() -> None:
    for text in ("undisturbed", "lost@w3", "crash-after@c0+409@w2~seed=7~steps=2"):
        assert str(RunToken.parse(text)) == text


class TestOnTheCommandLine:
    def test_everything_in_a_file_is_explored(self) -> None:
        done = CliRunner().invoke(main, ["explore", FILE, "--mode", "crash-after", "--jobs", "1"])
        assert done.exit_code == 1
        for name in load_scenarios(FILE):
            assert f"{name.rpartition(':')[2]}: " in done.output
        assert "configmaps default/a-<2> is there, and should not be" in done.output
        assert f"repeat: quintant explore {FILE}:MadeTwice --replay 'crash-after@w0'" in done.output

    def test_one_scenario_is_explored_by_name(self) -> None:
        done = CliRunner().invoke(main, ["explore", f"{FILE}:GreetingCreated", "--seeds", "3"])
        assert (done.exit_code, "3 of 3 runs" in done.output) == (0, True)

    @pytest.mark.parametrize(("token", "code"), [("crash-after@w0", 1), ("429@w0", 0)])
    def test_a_run_is_made_again(self, token: str, code: int) -> None:
        done = CliRunner().invoke(main, ["explore", f"{FILE}:MadeTwice", "--replay", token])
        assert done.exit_code == code
        assert token in done.output

    @pytest.mark.parametrize(
        "arguments",
        [
            ["nothing.py"],
            [f"{FILE}:Nothing"],
            [FILE, "--replay", "lost@w0"],
            [FILE, FILE, "--replay", "lost@w0"],
            [f"{FILE}:MadeTwice", "--replay", "lost"],
        ],
    )
    def test_what_cannot_be_done_is_explained(self, arguments: list[str]) -> None:
        done = CliRunner().invoke(main, ["explore", *arguments])
        assert done.exit_code == 1
        assert "because: " in done.output
        assert "try: " in done.output


def test_a_scenario_inside_a_function_is_explored_here() -> None:
    class Local(GreetingCreated):
        """No other process can find it."""

    assert target_of(Local) == ""
    explore_scenario(Local, jobs=2).check()


def test_a_scenario_is_found_where_it_is_defined() -> None:
    assert load_scenario(target_of(MadeTwice)).__name__ == "MadeTwice"
    with pytest.raises(ConfigError, match="cannot choose a scenario"):
        load_scenario(FILE)
