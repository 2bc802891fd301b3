"""What namespaces selected by label cost beside one cache of the whole cluster: the same objects.

A hundred watches instead of one, each with a connection of its own, as the API server has it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import uvloop

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer, running
from processes.usage import MEGABYTE, usage
from quintant import Manager, ObjectMeta
from quintant.api.core import ConfigMap, Namespace
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.environment import Environment
from quintant.runtime.observe import logs
from quintant.runtime.reconcile.context import Context

NAMESPACES = 100
WHOLE, SELECTED = "one cache of the cluster", f"{NAMESPACES} namespaces by label"
LABEL = "team=a"
TEXT = "a" * 1_000
BUDGET = 1.2
SETTLE_SECONDS = 3.0
METHOD = (
    "{objects:,} ConfigMaps of 1 KB in {namespaces} namespaces of an embedded server in another "
    "process, over TLS; a manager that controls them, in a process of its own. Memory is how far "
    "it has grown {settle:g} s after the last of them was reconciled, its connections included; "
    "time and CPU until then."
)


class Figures(msgspec.Struct):
    """What one manager took."""

    seconds: float
    cpu: float
    grown: float
    """Bytes."""


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure both, against one server."""
    found: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = str(Path(folder) / "kubeconfig")
        say(f"namespaces: a server with {sizes.objects:,} objects")
        with running("namespaces", "serve", kubeconfig, str(sizes.objects)) as server:
            assert server.stdout is not None
            server.stdout.readline()
            for mode in (WHOLE, SELECTED):
                say(f"namespaces: {mode}")
                found[mode] = answer("namespaces", mode, kubeconfig, str(sizes.objects), to=Figures)
    share = found[SELECTED].grown / found[WHOLE].grown
    yield Table(
        f"{NAMESPACES} namespaces selected by label",
        METHOD.format(objects=sizes.objects, namespaces=NAMESPACES, settle=SETTLE_SECONDS),
        ("", "memory", "synchronised after", "CPU"),
        [
            (mode, f"{it.grown / MEGABYTE:.1f} MB", f"{it.seconds:.1f} s", f"{it.cpu:.2f} s")
            for mode, it in found.items()
        ],
        [Budget(f"at most {BUDGET} of the memory", f"{share:.2f}", share <= BUDGET)],
    )


async def _serve(kubeconfig: Path, objects: int) -> None:
    """Fill a server, say so, and serve until killed."""
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        save_kubeconfig(cluster, kubeconfig)
        transport = HttpTransport(Config.load(kubeconfig))
        client = Client(Rest(transport))
        for number in range(NAMESPACES):
            await client.create(
                Namespace(metadata=ObjectMeta(name=_namespace(number), labels={"team": "a"}))
            )
        for number in range(objects):
            meta = ObjectMeta(name=f"map-{number}", namespace=_namespace(number))
            await client.create(ConfigMap(metadata=meta, data={"text": TEXT}))
        await transport.close()
        print("ready", flush=True)
        await asyncio.Event().wait()


def _namespace(number: int) -> str:
    return f"space-{number % NAMESPACES:03}"


async def _measure(mode: str, kubeconfig: Path, objects: int) -> Figures:
    left, done = objects, asyncio.Event()

    async def reconcile(obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
        nonlocal left
        if obj.metadata.namespace.startswith("space-"):
            left -= 1
        if not left:
            done.set()

    manager = Manager("bench")
    manager.controls(ConfigMap).reconcile(reconcile)
    if mode == SELECTED:
        manager.namespaces(selector=LABEL)
    transport = HttpTransport(Config.load(kubeconfig))
    engine = manager.bind(Environment(transport))
    before, began, used = usage(os.getpid()).rss, time.monotonic(), time.process_time()
    task = asyncio.ensure_future(engine.run())
    ended = asyncio.ensure_future(done.wait())
    await asyncio.wait({task, ended}, return_when=asyncio.FIRST_COMPLETED)
    assert ended.done(), task
    seconds, cpu = time.monotonic() - began, time.process_time() - used
    await asyncio.sleep(SETTLE_SECONDS)
    figures = Figures(seconds, cpu, usage(os.getpid()).rss - before)
    task.cancel()
    await asyncio.wait({task})
    await transport.close()
    return figures


if __name__ == "__main__":
    logs.configure(level="error")
    if sys.argv[1] == "serve":
        uvloop.run(_serve(Path(sys.argv[2]), int(sys.argv[3])))
    else:
        found = uvloop.run(_measure(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
        print(msgspec.json.encode(found).decode())
