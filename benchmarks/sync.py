"""The initial sync of many objects: watch-list lines into typed objects, or one list into dicts."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from benchmarks.report import Budget, Table, times
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer, running
from processes.usage import MEGABYTE, forget_peak, usage

BUDGET = 5.0
WAYS = VIEW, WHOLE, DICTS = "Quintant, a view of Pod", "Quintant, the whole Pod", "dicts"
METHOD = (
    "{count:,} synthetic pods of {size:.1f} KB from a server in another process, plain HTTP on "
    "loopback, uvloop. Quintant: the informer as it is, until it says that it is synced; the view "
    "declares metadata, node, phase, address and conditions, the whole Pod all that quintant.api "
    "models. Dicts: one GET, the stdlib's json, a dict by namespace and name. Memory is over what "
    "the same process had when it was idle; the peak is the kernel's."
)


class Figures(msgspec.Struct):
    """What a sync took."""

    objects: int
    seconds: float
    cpu: float
    peak: int
    settled: int


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure both."""
    from benchmarks.sample_pods import pod

    figures: dict[str, Figures] = {}
    with running("watchlist", str(sizes.objects)) as server:
        assert server.stdout is not None
        port = server.stdout.readline().decode().strip()
        for name in WAYS:
            say(f"sync: {name}")
            figures[name] = answer("sync", name, port, to=Figures)
    yield Table(
        f"Initial sync of {sizes.objects:,} objects",
        METHOD.format(count=sizes.objects, size=len(pod(0)) / 1000),
        ("", "time", "CPU", "peak memory", "settled"),
        [_row(name, each) for name, each in figures.items()],
        _budgets(figures[VIEW], figures[DICTS]),
    )


def _row(name: str, figures: Figures) -> tuple[str, ...]:
    return (
        name,
        f"{figures.seconds * 1000:.0f} ms",
        f"{figures.cpu * 1000:.0f} ms",
        f"{figures.peak / MEGABYTE:.0f} MB",
        f"{figures.settled / MEGABYTE:.0f} MB",
    )


def _budgets(ours: Figures, dicts: Figures) -> list[Budget]:
    return [
        Budget(
            f"at least {BUDGET:.0f}x faster than dicts",
            f"{times(dicts.seconds, ours.seconds)}, {times(dicts.cpu, ours.cpu)} in CPU",
            dicts.seconds >= BUDGET * ours.seconds,
        ),
        Budget(
            f"at least {BUDGET:.0f}x less peak memory than dicts",
            times(dicts.peak, ours.peak),
            dicts.peak >= BUDGET * ours.peak,
        ),
    ]


async def _with_quintant(port: str, view: bool) -> Figures:
    from benchmarks.pod_view import PodView
    from quintant.api.core import Pod
    from quintant.client.config.config import Config
    from quintant.client.http.transport import HttpTransport
    from quintant.client.rest import Rest
    from quintant.core.clock import Random
    from quintant.core.object import Object
    from quintant.runtime.cache.informer import Informer

    transport = HttpTransport(Config(f"http://127.0.0.1:{port}"))
    kind: type[Object] = PodView if view else Pod
    informer = Informer(Rest(transport), kind, random=Random())
    idle = _Idle()
    task = asyncio.ensure_future(informer.run())
    await informer.wait_synced()
    figures = idle.over(len(informer.store))
    task.cancel()
    await asyncio.wait({task})
    await transport.close()
    return figures


async def _with_dicts(port: str) -> Figures:
    import aiohttp

    cache: dict[tuple[str, str], Any] = {}
    async with aiohttp.ClientSession(read_bufsize=256 * 1024) as http:
        idle = _Idle()
        async with http.get(f"http://127.0.0.1:{port}/api/v1/pods") as response:
            listing = json.loads(await response.read())
        for item in listing["items"]:
            cache[item["metadata"]["namespace"], item["metadata"]["name"]] = item
        del listing
        return idle.over(len(cache))


class _Idle:
    """The process before the sync."""

    def __init__(self) -> None:
        gc.collect()
        forget_peak()
        self._usage, self._began = usage(os.getpid()), time.monotonic()
        self._cpu = time.process_time()

    def over(self, objects: int) -> Figures:
        """What the sync added."""
        seconds, cpu = time.monotonic() - self._began, time.process_time() - self._cpu
        gc.collect()
        now = usage(os.getpid())
        return Figures(objects, seconds, cpu, now.peak - self._usage.rss, now.rss - self._usage.rss)


if __name__ == "__main__":
    import uvloop

    way, port = sys.argv[1:]
    work = _with_dicts(port) if way == DICTS else _with_quintant(port, way == VIEW)
    print(msgspec.json.encode(uvloop.run(work)).decode())
