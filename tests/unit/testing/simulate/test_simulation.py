"""A simulation of minutes: the same in any process, and calm at its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quintant.testing.simulate.disturbances import LEADERS_LOST
from quintant.testing.simulate.simulation import SimulationOptions, SimulationReport, simulate

ROOT = Path(__file__).parents[4]
DAYS = 0.03
SHORT = SimulationOptions(seed=2, days=DAYS, operators=("klight", "portal"), nodes=6)
PROGRAM = """
import logging
from quintant.testing.explore.simulation.log_capture import captured_logs
from quintant.testing.simulate.simulation import SimulationOptions, simulate
with captured_logs(logging.CRITICAL):
    print(simulate(SimulationOptions(2, 0.03, ("klight", "portal"), 6)).digest)
"""


@pytest.fixture(scope="module")
def report() -> SimulationReport:
    return simulate(SHORT)


def elsewhere(hash_seed: str) -> str:
    """The digest in a process of its own."""
    paths = os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_two_processes_with_two_hash_seeds_come_to_the_same_digest() -> None:
    assert elsewhere("1") == elsewhere("2")


def test_everything_holds_after_trouble_and_calm(report: SimulationReport) -> None:
    assert report.violations == ()
    assert report.writes > 100
    assert report.seconds == pytest.approx(DAYS * 86_400)


def test_the_end_shows_what_there_is(report: SimulationReport) -> None:
    assert "LightNetwork peers/net: Ready" in report.objects


def test_a_simulation_may_end_at_a_moment_of_the_same_timeline() -> None:
    whole: list[str] = []
    part: list[str] = []
    simulate(SHORT, whole.append)
    simulate(SimulationOptions(2, DAYS, SHORT.operators, 6, until=1000.0), part.append)
    assert part
    assert whole[: len(part)] == part


def test_a_leader_is_cut_off_while_another_operator_has_none() -> None:
    """A moment that is rare: its seed was looked for among the plans of many."""
    options = SimulationOptions(192, 0.1, SHORT.operators, nodes=4, until=1500.0)
    assert simulate(options).reached[LEADERS_LOST]
