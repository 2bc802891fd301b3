"""What it costs to be there: imports, and an operator that has nothing to do."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.competitors import MODULES
from benchmarks.envtest_server import EnvtestServer, envtest_server
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import running
from processes.usage import MEGABYTE, usage

STATEMENTS = {
    "python": "pass",
    "asyncio and ssl": "import asyncio, ssl",
    "quintant": "import quintant",
    "quintant.Manager": "from quintant import Manager",
    "kopf": "import kopf",
}
IDLE = ("Quintant", "kopf", "bare loop")
REPEATS = 5
# An idle operator has read its kinds and made its first connections by then.
IDLE_SECONDS = 8.0
BUDGET_MB = 60.0

IMPORT_METHOD = (
    "a fresh interpreter for each statement; the median of {repeats} runs. Time is the CPU of the "
    "whole process, interpreter included; memory is resident at its end. kopf without the "
    "kubernetes and pykube packages, which it would import as well."
)
IDLE_METHOD = (
    "the operators of the reconcile benchmark, {seconds:g} s after their start, connected over TLS "
    "to a real API server that holds nothing for them to do. Quintant serves metrics and probes; "
    "the other two do not."
)


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure imports, then idle processes."""
    rows = []
    for name, statement in STATEMENTS.items():
        say(f"imports: {name}")
        seconds, megabytes = import_cost(statement)
        rows.append((name, f"{seconds * 1000:.0f} ms", f"{megabytes:.1f} MB"))
    method = IMPORT_METHOD.format(repeats=REPEATS)
    yield Table("Imports", method, ("", "CPU", "memory"), rows)

    with envtest_server(sizes) as server:
        idle = {name: _idle(name, server, say) for name in IDLE}
    ours = idle["Quintant"]
    yield Table(
        "An idle operator",
        IDLE_METHOD.format(seconds=IDLE_SECONDS),
        ("", "memory"),
        [(name, f"{size:.0f} MB") for name, size in idle.items()],
        [Budget(f"at most {BUDGET_MB:.0f} MB idle", f"{ours:.0f} MB", ours <= BUDGET_MB)],
    )


def import_cost(statement: str) -> tuple[float, float]:
    """The seconds of CPU and the megabytes of a fresh interpreter that runs a statement."""
    program = (
        f"{statement}\nimport os, time\n"
        "pages = int(open('/proc/self/statm').read().split()[1])\n"
        "print(time.process_time(), pages * os.sysconf('SC_PAGE_SIZE'))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, text=True
        ).stdout.split()
        for _ in range(REPEATS)
    ]
    seconds = median(float(each[0]) for each in runs)
    size = median(int(each[1]) for each in runs)
    return seconds, size / MEGABYTE


def _idle(name: str, server: EnvtestServer, say: Callable[[str], None]) -> float:
    say(f"imports: {name}, idle")
    module, more = MODULES[name]
    with running(module, env=server.env | more) as operator:
        time.sleep(IDLE_SECONDS)
        return usage(operator.pid).rss / MEGABYTE
