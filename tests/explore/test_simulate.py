"""Days of all operators under many seeds: `make soak K=simulate`."""

from __future__ import annotations

import logging
import os
from collections import Counter

import pytest

from quintant.testing.explore.simulation.log_capture import captured_logs
from quintant.testing.simulate.simulation import SimulationOptions, simulate

SEEDS = 20
DAYS = 7.0


@pytest.mark.skipif("QUINTANT_SOAK" not in os.environ, reason="hours of it: make soak K=simulate")
def test_soak_simulate_weeks_of_all_operators() -> None:
    reached, violations = Counter[str](), []
    for seed in range(1, SEEDS + 1):
        with captured_logs(logging.CRITICAL):
            report = simulate(SimulationOptions(seed, DAYS))
        reached.update(report.reached)
        violations += [f"seed {seed}: {each}" for each in report.violations]
    assert violations == []
    assert [name for name, count in reached.items() if not count] == []
