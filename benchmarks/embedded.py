"""The embedded cluster beside etcd and kube-apiserver: start, writes, watches, memory."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from compileall import compile_dir
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import msgspec
import psutil

import quintant
from benchmarks.report import Budget, Table, times
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from envtest import RealCluster

WRITERS = 16
WATCHERS = 10
READY_SECONDS = 20.0
STARTS = 3
"""Of each; between one and the next a machine that does something else shows."""
ALONE, WHOLE, PAIR = "quintant up --api-only", "quintant up", "kube-apiserver + etcd"
METHOD = (
    "All on this machine, in memory, over TLS with roles enforced (the pair: etcd without fsync). "
    "`quintant up` is the whole cluster, with controllers, scheduler, services and a node, and has "
    "started when all of them are at work; the pair has no controllers, and has started when "
    f"/readyz answers. Start is the median of {STARTS}, warm, and compiled as an installation "
    f"leaves it. {{count:,}} ConfigMaps are created by {WRITERS} clients in a process of their "
    f"own, the same for all, while {WATCHERS} watches follow; events/s counts what those receive. "
    "RSS is measured before the writes."
)


class Figures(msgspec.Struct):
    """What the load saw."""

    writes: float
    events: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What one server did."""

    start: float
    rss: float
    load: Figures


@dataclass(frozen=True, slots=True)
class Target:
    """A server that runs."""

    kubeconfig: Path
    pids: list[int]
    start: float


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure one after the other."""
    found: dict[str, Measured] = {}
    compile_dir(Path(quintant.__file__).parent, quiet=1)
    targets: dict[str, Callable[[], AbstractContextManager[Target]]] = {
        ALONE: partial(embedded, "--api-only"),
        WHOLE: embedded,
        PAIR: real,
    }
    for name, target in targets.items():
        say(f"embedded: {name}")
        starts = [_started(target) for _ in range(STARTS - 1)]
        with target() as server:
            starts.append(server.start)
            rss = sum(psutil.Process(pid).memory_info().rss for pid in server.pids) / 1e6
            env = {"KUBECONFIG": str(server.kubeconfig)}
            load = answer("embedded", str(sizes.requests), to=Figures, env=env)
            found[name] = Measured(median(starts), rss, load)
    yield _table(sizes, found)


def _started(target: Callable[[], AbstractContextManager[Target]]) -> float:
    with target() as server:
        return server.start


def _table(sizes: Sizes, found: dict[str, Measured]) -> Table:
    whole, pair = found[WHOLE], found[PAIR]
    faster, more = pair.start / whole.start, whole.load.writes / pair.load.writes
    return Table(
        "The embedded cluster beside etcd and kube-apiserver",
        METHOD.format(count=sizes.requests),
        ("", "start", "writes", "events", "RSS when empty"),
        [
            (
                name,
                f"{each.start:.2f} s",
                f"{each.load.writes:.0f}/s",
                f"{each.load.events:.0f}/s",
                f"{each.rss:.0f} MB",
            )
            for name, each in found.items()
        ],
        (
            Budget("start at least 3x faster", times(pair.start, whole.start), faster >= 3),
            Budget("started within a second", f"{whole.start:.2f} s", whole.start <= 1),
            Budget(
                "writes/s at least as many", times(whole.load.writes, pair.load.writes), more >= 1
            ),
            Budget("at most 80 MB when empty", f"{whole.rss:.0f} MB", whole.rss <= 80),
        ),
    )


@contextmanager
def embedded(*options: str) -> Iterator[Target]:
    with tempfile.TemporaryDirectory(prefix="quintant-bench-") as folder:
        path = Path(folder) / "kubeconfig"
        command = [sys.executable, "-m", "quintant", "up", *options]
        began = time.monotonic()
        child = subprocess.Popen(
            [*command, "--listen", "127.0.0.1:0", "--kubeconfig", str(path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            start = _ready(path, began)
            yield Target(path, [child.pid], start)
        finally:
            child.terminate()
            child.wait()


@contextmanager
def real() -> Iterator[Target]:
    began = time.monotonic()
    with RealCluster(environ={**os.environ, "QUINTANT_DISPOSABLE": ""}) as cluster:
        start = time.monotonic() - began
        yield Target(Path(cluster.kubeconfig), list(cluster.pids.values()), start)


def _ready(kubeconfig: Path, began: float) -> float:
    """Seconds until the way in is written, which is when the server answers."""
    while not kubeconfig.exists():
        if time.monotonic() - began > READY_SECONDS:
            raise TimeoutError(f"no embedded cluster within {READY_SECONDS:g} s")
        time.sleep(0.005)
    return time.monotonic() - began


async def _load(count: int) -> Figures:
    from quintant.api.core import ConfigMap
    from quintant.client.config.config import Config
    from quintant.client.http.transport import HttpTransport
    from quintant.client.rest import Rest
    from quintant.core.object import ObjectMeta
    from quintant.runtime.cache.client import Client

    transport = HttpTransport(Config.discover())
    client = Client(Rest(transport))
    seen, complete = 0, asyncio.Event()

    async def follow() -> None:
        nonlocal seen
        async for change in client.watch(ConfigMap, "default"):
            seen += change.new is not None and change.new.metadata.name.startswith("bench-")
            if seen == count * WATCHERS:
                complete.set()

    async def write(names: Iterator[int]) -> None:
        for number in names:
            meta = ObjectMeta(name=f"bench-{number}", namespace="default")
            await client.create(ConfigMap(metadata=meta, data={"text": "x" * 500}))

    async with asyncio.TaskGroup() as watches:
        tasks = [watches.create_task(follow()) for _ in range(WATCHERS)]
        await asyncio.sleep(1)
        began, names = time.monotonic(), iter(range(count))
        async with asyncio.TaskGroup() as writers:
            for _ in range(WRITERS):
                writers.create_task(write(names))
        wrote = time.monotonic() - began
        await complete.wait()
        delivered = time.monotonic() - began
        for task in tasks:
            task.cancel()
    await transport.close()
    return Figures(count / wrote, seen / delivered)


if __name__ == "__main__":
    import uvloop

    print(msgspec.json.encode(uvloop.run(_load(int(sys.argv[1])))).decode())
