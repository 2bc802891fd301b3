"""Every scenario of this folder under random order and random faults: `make soak K=explore`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quintant.testing.explore.campaign import ExplorationOptions, explore_scenarios
from quintant.testing.explore.loading import load_scenarios

SEEDS = 10_000
"""In all; every scenario has its share."""
FILES = sorted(Path(__file__).parent.glob("[!_]*.py"))
SCENARIOS = {
    target: found
    for path in FILES
    if not path.name.startswith(("test_", "conftest"))
    for target, found in load_scenarios(str(path)).items()
}


@pytest.mark.skipif("QUINTANT_SOAK" not in os.environ, reason="hours of it: make soak K=explore")
@pytest.mark.parametrize("target", SCENARIOS, ids=lambda each: each.rpartition("/")[2])
def test_soak_explore_seeds(target: str) -> None:
    options = ExplorationOptions(seeds=range(1, SEEDS // len(SCENARIOS) + 1))
    for report in explore_scenarios({target: SCENARIOS[target]}, options):
        report.check()


def test_every_file_has_scenarios() -> None:
    assert {target.rpartition("/")[2] for target in SCENARIOS} >= {"greeter.py:GreeterLife"}
