"""How long the test of a whole controller takes: custom resource, child, status."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import msgspec

from benchmarks.operators.kind import Greeter, GreeterSpec
from benchmarks.operators.with_quintant import declare
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from quintant.api.core import ConfigMap
from quintant.runtime.observe import logs
from quintant.testing import InProcessCluster, named
from quintant.testing import run as virtual

TESTS = 50
BUDGET_MS = 50.0
METHOD = (
    "the greeter on an in-process cluster under virtual time, as its unit test runs it: a fresh "
    "API server, the CRD installed, the manager started, a custom resource created, child and "
    "status awaited, everything stopped. {tests} in one process; the first pays for what is made "
    "once. Wall-clock time."
)


class Figures(msgspec.Struct):
    """Milliseconds of each test, in order."""

    milliseconds: list[float]


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure a row of tests."""
    say("testcase")
    env = {"BENCH_WORKERS": str(sizes.workers)}
    first, *others = answer("testcase", to=Figures, env=env).milliseconds
    median = sorted(others)[len(others) // 2]
    yield Table(
        "The test of a whole controller",
        METHOD.format(tests=TESTS),
        ("", "first", "median", "slowest but the first"),
        [("Quintant", *(f"{value:.1f} ms" for value in (first, median, max(others))))],
        [Budget(f"under {BUDGET_MS:.0f} ms", f"{median:.1f} ms", median < BUDGET_MS)],
    )


async def _test() -> None:
    cluster = InProcessCluster()
    await cluster.run(declare())
    await cluster.create(Greeter(metadata=named("a"), spec=GreeterSpec(message="hi")))
    child = await cluster.eventually(ConfigMap, "a")
    assert child.data == {"text": "hi"}
    await cluster.eventually(Greeter, "a", until=lambda obj: obj.status is not None)
    await cluster.close()


def _measure() -> Figures:
    taken = []
    for _ in range(TESTS):
        began = time.perf_counter()
        virtual(_test())
        taken.append((time.perf_counter() - began) * 1000)
    return Figures(taken)


if __name__ == "__main__":
    logs.configure(level="warning")
    print(msgspec.json.encode(_measure()).decode())
