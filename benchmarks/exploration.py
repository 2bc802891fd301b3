"""How many runs of an exploration a core makes in a second, and whether memory stays flat."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

import msgspec

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from processes.usage import MEGABYTE, usage
from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.loading import load_scenario, load_scenarios

SCENARIOS = Path(__file__).parents[1] / "tests" / "explore"
RUNS_PER_SECOND = {"greeter.py": 100.0, "portal.py": 15.0, "klight.py": 10.0}
"""The budget of the slowest scenario of a file."""
MEMORY_MB = 8.0
"""Growth that counts as flat: what is made once (caches, compiled patterns) comes in any order."""
SIEVE = (
    "For scale: the artifact of Sieve (OSDI '22) plans five hours for 31 test plans on a kind "
    "cluster, about ten minutes each (github.com/sieve-project/sieve, branch osdi-ae, README)."
)
METHOD = (
    "one process that makes the runs of a scenario one after another, over every mode at every "
    "point, as often as it takes: {runs} runs of the greeter, {fewer} of the others. CPU time of "
    "the process; memory after a tenth of the runs and after the last. " + SIEVE
)


class Figures(msgspec.Struct):
    """What one scenario came to."""

    planned: int
    runs: int
    seconds: float
    early_mb: float
    late_mb: float


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure every scenario of every operator."""
    rows, budgets = [], []
    fewer = sizes.trials * 5
    for path in sorted(SCENARIOS.glob("[!t_]*.py")):
        for target in _targets(path):
            name = target.rpartition(":")[2]
            say(f"explore {name}")
            runs = sizes.objects if path.name == "greeter.py" else fewer
            found = answer("exploration", target, str(runs), to=Figures, env=_paths())
            rate, growth = found.runs / found.seconds, found.late_mb - found.early_mb
            memory = (f"{found.late_mb:.0f} MB", f"{growth:+.1f} MB")
            rows.append((name, str(found.planned), f"{rate:.0f}", *memory))
            wanted = RUNS_PER_SECOND.get(path.name)
            if wanted is not None:
                promise = f"{name}: at least {wanted:.0f} runs a second and core"
                budgets.append(Budget(promise, f"{rate:.0f}", rate >= wanted))
            flat = growth < MEMORY_MB
            budgets.append(
                Budget(f"{name}: flat over {found.runs} runs", f"{growth:+.1f} MB", flat)
            )
    yield Table(
        "Exploration",
        METHOD.format(runs=sizes.objects, fewer=fewer),
        ("", "runs in all", "runs/s and core", "memory", "growth"),
        rows,
        budgets,
    )


def _targets(path: Path) -> list[str]:
    paths = _paths()["PYTHONPATH"].split(os.pathsep)
    sys.path[:0] = [each for each in paths if each not in sys.path]
    return list(load_scenarios(str(path)))


def _paths() -> dict[str, str]:
    """Where scenarios find what they share with the tests."""
    root, parts = SCENARIOS.parents[1], ("src", "tests", "scripts", ".")
    return {"PYTHONPATH": os.pathsep.join(str(root / part) for part in parts)}


def _measure(target: str, runs: int) -> Figures:
    explorer = Explorer(load_scenario(target))
    plan = explorer.plan()
    early = 0.0
    began = time.process_time()
    for number, token in enumerate(islice(cycle(plan), runs)):
        explorer.run(token)
        if number == runs // 10:
            early = _resident_mb()
    return Figures(len(plan), runs, time.process_time() - began, early, _resident_mb())


def _resident_mb() -> float:
    return usage(os.getpid()).rss / MEGABYTE


if __name__ == "__main__":
    print(msgspec.json.encode(_measure(sys.argv[1], int(sys.argv[2]))).decode())
