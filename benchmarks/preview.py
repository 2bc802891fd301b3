"""What a preview costs beside a restart of the same operator, where nothing is to be done."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

import msgspec
import uvloop

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from processes.usage import MEGABYTE, usage
from quintant import Custom, Manager, Model, ObjectMeta, owned, resource
from quintant.api.core import ConfigMap
from quintant.preview.run import PreviewLimits, preview
from quintant.runtime.manager.engine import Engine
from quintant.runtime.observe import logs
from quintant.runtime.reconcile.context import Context
from quintant.testing import InProcessCluster

RESTART, PREVIEW = "a restart", "a preview"
REST_SECONDS = 0.5
"""Nothing was queued for so long: then it rests, and the time counts up to there."""
ROUNDS = 7
TEXT = "a" * 1_000
METHOD = (
    "{objects:,} custom resources, each with a ConfigMap, as they should be, in the embedded "
    "server in the same process; {rounds} of each in turn, each in a process of its own, and the "
    "medians. Time is until nothing has been queued for {rest:g} s, that left out; memory is how "
    "far the process grows meanwhile, which for a preview is with its copy of the cluster."
)


class Figures(msgspec.Struct):
    """What one run took."""

    seconds: float
    cpu: float
    grown: float
    """Bytes."""
    writes: int


class EchoSpec(Model):
    """What it says."""

    text: str


@resource(group="bench.dev", version="v1", status=True)
class Echo(Custom[EchoSpec, Model]):
    """Keeps a ConfigMap."""


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure each in a process of its own, one after the other."""
    objects = sizes.resources // 2
    found: dict[str, list[Figures]] = {RESTART: [], PREVIEW: []}
    for number in range(ROUNDS):
        say(f"preview: round {number + 1} of {ROUNDS}")
        for mode, rounds in found.items():
            rounds.append(answer("preview", mode, str(objects), to=Figures))
    seconds = {mode: _median(rounds, "seconds") for mode, rounds in found.items()}
    share = seconds[PREVIEW] / seconds[RESTART]
    writes = sum(each.writes for each in found[PREVIEW])
    yield Table(
        "A preview at rest",
        METHOD.format(objects=objects, rest=REST_SECONDS, rounds=ROUNDS),
        ("", "time", "CPU", "memory", "writes"),
        [
            (
                mode,
                f"{seconds[mode]:.2f} s",
                f"{_median(rounds, 'cpu'):.2f} s",
                f"{_median(rounds, 'grown') / MEGABYTE:.1f} MB",
                str(sum(each.writes for each in rounds)),
            )
            for mode, rounds in found.items()
        ],
        [Budget("at most twice the time of a restart, and no write",
                f"{share:.2f}, {writes} writes", share <= 2 and not writes)],
    )  # fmt: skip


def _median(rounds: list[Figures], field: str) -> float:
    return median(float(getattr(each, field)) for each in rounds)


async def _reconcile(obj: Echo, ctx: Context[Echo]) -> None:
    child = ConfigMap(metadata=ObjectMeta.like(obj), data={"text": obj.spec.text})
    await ctx.apply(owned(child, by=obj))


def _manager() -> Manager:
    manager = Manager("bench")
    manager.controls(Echo).owns(ConfigMap).reconcile(_reconcile)
    return manager


async def _rested(engine: Engine) -> float:
    """The moment since when nothing has been queued."""
    since = time.monotonic()
    while time.monotonic() - since < REST_SECONDS:
        await asyncio.sleep(0.02)
        if not engine.started.is_set() or not engine.idle:
            since = time.monotonic()
    return since


async def _measure(mode: str, objects: int) -> Figures:
    cluster = InProcessCluster()
    await cluster.install(Echo)
    for number in range(objects):
        meta = ObjectMeta(name=f"echo-{number}", namespace="default")
        await cluster.client.create(Echo(metadata=meta, spec=EchoSpec(text=TEXT)))
    engine = await cluster.run(_manager())
    await _rested(engine)
    await cluster.stop(engine)
    revision, memory = cluster.server.store.revision, _memory()
    began, used = time.monotonic(), time.process_time()
    if mode == PREVIEW:
        await preview(_manager(), cluster.environment(), PreviewLimits(quiet=REST_SECONDS))
        ended = time.monotonic() - REST_SECONDS
    else:
        ended = await _rested(await cluster.run(_manager()))
    writes = cluster.server.store.revision - revision
    return Figures(ended - began, time.process_time() - used, _memory() - memory, writes)


def _memory() -> int:
    return usage(os.getpid()).rss


if __name__ == "__main__":
    logs.configure(level="error")
    print(msgspec.json.encode(uvloop.run(_measure(sys.argv[1], int(sys.argv[2])))).decode())
