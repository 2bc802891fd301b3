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
from quintant.testing.explore.seeds import sampled

SCENARIOS = Path(__file__).parents[1] / "tests" / "explore"
RUNS_PER_SECOND = {"greeter.py": 100.0, "portal.py": 15.0, "klight.py": 10.0}
"""The budget of the slowest scenario of a file."""
MEMBERS = "OfThreeMembers"
"""Scenarios of several processes, which have no budget and are large whatever they do."""
MEMORY_MB = 8.0
"""Growth that counts as flat: what is made once (caches, compiled patterns) comes in any order."""
SIEVE = (
    "For scale: the artifact of Sieve (OSDI '22) plans five hours for 31 test plans on a kind "
    "cluster, about ten minutes each (github.com/sieve-project/sieve, branch osdi-ae, README)."
)
METHOD = (
    "one process that makes the runs of a scenario one after another, a fair sample of every mode "
    "at every point: {most} runs of the greeter, as often round as it takes, {many} of each "
    "scenario that has a budget, and {few} of the others, which are larger. CPU time of the "
    "process; memory after a tenth of the runs and after the last. " + SIEVE
)
# Of the trials of other benchmarks: runs of a scenario with a budget, and of one without.
BUDGETED_SHARE, OTHER_SHARE = 2.0, 0.2


class Figures(msgspec.Struct):
    """What one scenario came to."""

    planned: int
    runs: int
    seconds: float
    early_mb: float
    late_mb: float

    @property
    def rate(self) -> float:
        """Runs in a second of a core."""
        return self.runs / self.seconds

    @property
    def growth(self) -> float:
        """What memory grew by, in megabytes, after a tenth of the runs."""
        return self.late_mb - self.early_mb


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure every scenario of every operator."""
    rows, budgets = [], list[Budget]()
    for path in sorted(SCENARIOS.glob("[!t_]*.py")):
        for target in _targets(path):
            name = target.rpartition(":")[2]
            say(f"explore {name}")
            file = MEMBERS if name.endswith(MEMBERS) else path.name
            runs = str(_runs(file, sizes))
            found = answer("exploration", target, runs, to=Figures, env=_paths())
            rows.append(_row(name, found))
            if file in RUNS_PER_SECOND:
                budgets += _budgets(name, found, RUNS_PER_SECOND[path.name])
    counts = {"most": "greeter.py", "many": "portal.py", "few": "others"}
    method = METHOD.format_map({word: _runs(name, sizes) for word, name in counts.items()})
    heads = ("", "runs in all", "runs/s and core", "memory", "growth")
    yield Table("Exploration", method, heads, rows, budgets)


def _runs(name: str, sizes: Sizes) -> int:
    """How many runs are made of each scenario of a file."""
    if name == "greeter.py":
        return sizes.objects
    share = BUDGETED_SHARE if name in RUNS_PER_SECOND else OTHER_SHARE
    return max(1, int(sizes.trials * share))


def _row(name: str, found: Figures) -> tuple[str, ...]:
    memory = (f"{found.late_mb:.0f} MB", f"{found.growth:+.1f} MB")
    return (name, str(found.planned), f"{found.rate:.3g}", *memory)


def _budgets(name: str, found: Figures, wanted: float) -> Iterator[Budget]:
    promise = f"{name}: at least {wanted:.0f} runs a second and core"
    yield Budget(promise, f"{found.rate:.3g}", found.rate >= wanted)
    flat = f"{name}: flat over {found.runs} runs"
    yield Budget(flat, f"{found.growth:+.1f} MB", found.growth < MEMORY_MB)


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
    plan = sampled(explorer.plan())
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
