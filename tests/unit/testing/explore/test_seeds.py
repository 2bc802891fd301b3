"""The same seed is the same run: here, elsewhere, and on every Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from quintant.testing import explore_scenario
from quintant.testing.explore.campaign import SHRUNK
from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.seeds import MOST_FAULTS, sampled, seeded_runs
from quintant.testing.explore.simulation.run import ScenarioRunner
from testbeds.exploring import GreetingCrowd, GreetingLife, MadeTwice

ROOT = Path(__file__).parents[4]
SEEDS = range(12)

PROGRAM = """
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.simulation.run import ScenarioRunner
from testbeds.exploring import GreetingCrowd
runner = ScenarioRunner(GreetingCrowd)
for seed in range(12):
    print(runner.run(RunToken(seed=seed)).digest)
"""


def digests() -> list[str]:
    runner = ScenarioRunner(GreetingCrowd)
    return [runner.run(RunToken(seed=seed)).digest for seed in SEEDS]


def elsewhere(python: str, hash_seed: str) -> list[str]:
    """The digests in a process of its own."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests"), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": paths}
    done = subprocess.run(
        [python, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_digests_are_equal_twice_in_one_process() -> None:
    assert digests() == digests()


def test_digests_are_equal_whatever_the_hash_seed() -> None:
    assert digests() == elsewhere(sys.executable, "1") == elsewhere(sys.executable, "2")


def test_digests_are_equal_on_another_python() -> None:
    names = ("python3.11", "python3.12", "python3.13", "python3.14")
    here = f"python3.{sys.version_info.minor}"
    found = [path for name in names if name != here and (path := shutil.which(name))]
    usable = [python for python in found if _has_what_it_needs(python)]
    if not usable:
        pytest.skip("no other Python here has the packages that it takes")
    assert {tuple(elsewhere(python, "3")) for python in usable} == {tuple(digests())}


def _has_what_it_needs(python: str) -> bool:
    asked = [python, "-c", "import click, cryptography, msgspec, re2, structlog, yaml"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def test_seeds_are_different_orders() -> None:
    runner = ScenarioRunner(GreetingCrowd)
    orders = {tuple(runner.run(RunToken(seed=seed)).trace.lines) for seed in SEEDS}
    assert len(orders) > 1


def test_a_seed_has_a_few_faults_and_always_the_same() -> None:
    plan = Explorer(GreetingLife).plan()
    runs = seeded_runs(plan, range(1, 200))
    assert runs == seeded_runs(plan, range(1, 200))
    assert {len(each.faults) for each in runs} == set(range(1, MOST_FAULTS + 1))
    assert [each.seed for each in runs] == list(range(1, 200))
    assert {fault for each in runs for fault in each.faults} <= {each.faults[0] for each in plan}


def test_a_sample_is_the_plan_in_another_order() -> None:
    plan = Explorer(GreetingLife).plan()
    assert sampled(plan) == sampled(plan) != plan
    assert sorted(map(str, sampled(plan))) == sorted(map(str, plan))


def test_a_right_controller_survives_chance() -> None:
    report = explore_scenario(GreetingLife, seeds=40)
    report.check()
    assert report.runs == report.planned == 40


def test_a_wrong_controller_is_found_by_chance_and_told_in_short() -> None:
    failures = explore_scenario(MadeTwice, seeds=20).failures
    told = [RunToken.parse(each.token) for each in failures]
    assert min(len(each.faults) for each in told) == 1
    assert {each.seed for each in told[:SHRUNK]} == {0}
