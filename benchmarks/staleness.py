"""What it costs to ask how far caches are behind, beside the reconciles of the same operator."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

import msgspec

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from quintant import Custom, Manager, Model, ObjectMeta, owned, resource
from quintant.api.core import ConfigMap
from quintant.runtime.observe import logs
from quintant.runtime.reconcile.context import Context
from quintant.testing import InProcessCluster
from quintant.testing.loop import run as run_virtual

NEVER, USUAL, OFTEN = 0.0, 30.0, 1.0
"""Seconds between two questions for each kind; often enough that one of them can be measured."""
ROUNDS = 5
REST_SECONDS = 1_000.0
RATE = 20
"""Reconciles a second of the operator that pays for the questions."""
KINDS = 2
BUDGET = 0.01
METHOD = (
    "an operator of two kinds on the embedded server in the same process: CPU of {count:,} "
    "reconciles that create a child, and of {rest:g} virtual seconds at rest in which each kind is "
    "asked about once a second, less as many in which none is; medians of {rounds} rounds, each "
    "in a process of its own. The share is that of an operator with {rate} reconciles a second "
    "that asks every {usual:g} s, as `Manager(staleness={usual:g})` has it."
)


class Figures(msgspec.Struct):
    """Seconds of CPU of one run."""

    reconciles: float
    rest: float


class EchoSpec(Model):
    """What it says."""

    text: str


@resource(group="bench.dev", version="v1", status=True)
class Echo(Custom[EchoSpec, Model]):
    """Keeps a ConfigMap."""


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure each in a process of its own, in turn."""
    count = sizes.resources // 2
    found: dict[float, list[Figures]] = {NEVER: [], USUAL: [], OFTEN: []}
    for number in range(ROUNDS):
        say(f"staleness: round {number + 1} of {ROUNDS}")
        for interval, rounds in found.items():
            rounds.append(answer("staleness", str(interval), str(count), to=Figures))
    reconcile = {
        interval: median(each.reconciles for each in rounds) / count
        for interval, rounds in found.items()
    }
    rest = {interval: median(each.rest for each in rounds) for interval, rounds in found.items()}
    question = (rest[OFTEN] - rest[NEVER]) / (KINDS * REST_SECONDS / OFTEN)
    share = KINDS * question / USUAL / (RATE * reconcile[NEVER])
    yield Table(
        "Asking how far caches are behind",
        METHOD.format(count=count, rest=REST_SECONDS, rounds=ROUNDS, rate=RATE, usual=USUAL),
        ("", "CPU"),
        [
            ("a reconcile, nothing asked", _micro(reconcile[NEVER])),
            (f"a reconcile, asked every {USUAL:g} s", _micro(reconcile[USUAL])),
            ("a question about one kind", _micro(question)),
        ],
        [Budget("at most 1 % of the CPU of its reconciles", f"{share:.2%}", share <= BUDGET)],
    )


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs"


async def _reconcile(obj: Echo, ctx: Context[Echo]) -> None:
    child = ConfigMap(metadata=ObjectMeta.like(obj), data={"text": obj.spec.text})
    await ctx.apply(owned(child, by=obj))


async def _measure(interval: float, count: int) -> Figures:
    cluster = InProcessCluster()
    await cluster.install(Echo)
    manager = Manager("bench", staleness=interval or None)
    manager.controls(Echo).owns(ConfigMap).reconcile(_reconcile)
    engine = await cluster.run(manager)
    used = time.process_time()
    await _rested(lambda: engine.started.is_set() and engine.idle)
    for number in range(count):
        meta = ObjectMeta(name=f"echo-{number}", namespace="default")
        await cluster.client.create(Echo(metadata=meta, spec=EchoSpec(text="hi")))
    await _rested(lambda: engine.idle)
    reconciles, used = time.process_time() - used, time.process_time()
    await asyncio.sleep(REST_SECONDS)
    return Figures(reconciles, time.process_time() - used)


async def _rested(idle: Callable[[], bool]) -> None:
    while not idle():  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.02)


if __name__ == "__main__":
    logs.configure(level="error")
    print(msgspec.json.encode(run_virtual(_measure(float(sys.argv[1]), int(sys.argv[2])))).decode())
