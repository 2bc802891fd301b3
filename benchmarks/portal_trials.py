"""The trials of Portal Expose: one cause after another, and how soon its effect is seen.

`python -m benchmarks.portal_trials 100` prints the seconds of every trial as JSON;
`portal_operator` makes a table of them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from time import perf_counter
from typing import Any

import msgspec
import psutil

from quintant.api.apps import Deployment
from quintant.api.core import Node, Pod, Service
from quintant.api.meta import condition_of
from quintant.client.api_time import measure_api_time
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.instance.cluster import Cluster, ClusterConfig, run_cluster
from quintant.cluster.kubelet.options import NodeOptions as LocalNode
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from quintant.core.object import K
from quintant.operators.portal import declare, sample, tunnel_class
from quintant.operators.portal.api import PortalExpose, TunnelClass
from quintant.operators.portal.builders import EXPOSE_LABEL
from quintant.operators.portal.metrics import PortalMetrics
from quintant.operators.portal.options import Options
from quintant.operators.portal.remote import http_lines
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from quintant.runtime.manager.manager import Manager
from quintant.runtime.observe import logs

PLACE = sample.NAMESPACE
PATIENCE_SECONDS = 300.0
TUNNELS = 3
# A hundred tunnels ask for a tenth of a core each.
CORES = "64"
CLASS = "/apis/portal.gosuda.org/v1alpha1/tunnelclasses/default"
SIZES = ("medium", "small")
# A silent relay takes seconds to be noticed, each time: so many fewer trials of it.
SILENCE_SHARE = 5
TOLD = 10
"""Trials after which it is said how far they are: some take ten seconds to be well again."""


class Figures(msgspec.Struct):
    """Seconds of every trial."""

    passes: list[float]
    service: list[float]
    tunnel: list[float]
    relay: list[float]
    silence: list[float]
    start: list[float]
    rollout: list[float]


class Recording(PortalMetrics):
    """Keeps how long each pass took, API calls excepted."""

    def __init__(self) -> None:
        super().__init__()
        self.passes: list[float] = []

    @contextmanager
    def measured(self) -> Iterator[None]:
        began = perf_counter()
        with measure_api_time() as waited, super().measured():
            yield
        self.passes.append(perf_counter() - began - waited.seconds)


class Bench:
    """A cluster with the sample in it, and the trials."""

    def __init__(self, client: Client, metrics: Recording) -> None:
        self.client, self.metrics = client, metrics

    async def figures(self, trials: int) -> Figures:
        await self._phase("Ready")
        service = await _tried("the Service", trials // 2, self._service)
        tunnel = await _tried("a tunnel", trials, self._tunnel)
        relay = await _tried("a relay", trials, self._relay)
        silence = await _tried("a silent relay", trials // SILENCE_SHARE, self._silence)
        rollout = await _tried("a rolling update", trials, self._rollout)
        _say(f"{trials} at once")
        start = await self._start(trials)
        return Figures(self.metrics.passes, service, tunnel, relay, silence, start, rollout)

    async def _service(self) -> list[float]:
        web = await self.client.get(Service, "web", PLACE)
        gone = await _timed(lambda: self.client.delete(web), lambda: self._phase("Failed"))
        (part,) = (each for each in sample.manifests() if _is(each, "Service", "web"))
        return [gone, await _timed(lambda: self._apply(part), lambda: self._phase("Ready"))]

    async def _tunnel(self) -> list[float]:
        return await self._lost((await self._pods({EXPOSE_LABEL: sample.APP}))[0])

    async def _relay(self) -> list[float]:
        (pod,) = await self._pods({"app": sample.RELAYS[1]})
        return await self._lost(pod)

    async def _lost(self, pod: Pod) -> list[float]:
        took = await _timed(
            lambda: self.client.delete(pod, grace=0), lambda: self._phase("Degraded")
        )
        await self._phase("Ready")
        return [took]

    async def _silence(self) -> list[float]:
        (pod,) = await self._pods({"app": sample.RELAYS[1]})
        process = _process(pod)

        async def suspend() -> None:
            process.suspend()

        took = await _timed(suspend, lambda: self._phase("Degraded"))
        process.resume()
        await self._phase("Ready")
        return [took]

    async def _rollout(self) -> list[float]:
        name = f"{sample.APP}-tunnel"
        before = await self.client.get(Deployment, name, PLACE)
        size = (await self.client.get(TunnelClass, "default")).spec.size

        def done(it: Deployment) -> bool:
            status = it.status
            fresh = it.metadata.generation > before.metadata.generation
            settled = status.updated_replicas == status.replicas == status.ready_replicas == TUNNELS
            return fresh and status.observed_generation == it.metadata.generation and settled

        async def over() -> None:
            await self._until(Deployment, name, done)
            await self._until(PortalExpose, sample.APP, _steady)

        change = {"spec": {"size": next(each for each in SIZES if each != size)}}
        return [await _timed(lambda: self._merge(CLASS, change), over)]

    async def _start(self, count: int) -> list[float]:
        await self._merge(CLASS, {"spec": {"replicas": 1, "size": "small"}})
        await self._enlarge()
        (part,) = (each for each in sample.manifests() if each["kind"] == "PortalExpose")
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._first(_renamed(part, f"more-{number}")))
                for number in range(count)
            ]
        return [task.result() for task in tasks]

    async def _enlarge(self) -> None:
        (node,) = await self.client.list(Node)
        amount = {"cpu": CORES}
        path = f"/api/v1/nodes/{node.metadata.name}/status"
        await self._merge(path, {"status": {"capacity": amount, "allocatable": amount}})

    async def _first(self, part: dict[str, Any]) -> float:
        name = part["metadata"]["name"]
        return await _timed(lambda: self._apply(part), lambda: self._running(name))

    async def _running(self, name: str) -> None:
        async for change in self.client.watch(Pod, PLACE, labels={EXPOSE_LABEL: name}):
            pod = change.new
            if pod and any(each.state.running for each in pod.status.container_statuses):
                return

    async def _phase(self, phase: str) -> None:
        await self._until(
            PortalExpose, sample.APP, lambda it: it.status is not None and it.status.phase == phase
        )

    async def _until(self, kind: type[K], name: str, wanted: Callable[[K], bool]) -> None:
        await self.client.wait_for(
            kind, name, PLACE, timeout=PATIENCE_SECONDS,
            until=lambda it: it is not None and wanted(it),
        )  # fmt: skip

    async def _pods(self, labels: dict[str, str]) -> list[Pod]:
        found = await self.client.list(Pod, PLACE, labels=labels)
        return [pod for pod in found if not pod.deleting]

    async def _apply(self, part: Any) -> None:
        await Applier(self.client.rest, "bench").apply((part,))

    async def _merge(self, path: str, change: Any) -> None:
        headers = {"Content-Type": "application/merge-patch+json"}
        await self.client.raw("PATCH", path, body=msgspec.json.encode(change), headers=headers)


async def _tried(
    what: str, rounds: int, trial: Callable[[], Awaitable[list[float]]]
) -> list[float]:
    taken: list[float] = []
    for number in range(rounds):
        if number % TOLD == 0:
            _say(f"{what}: {number} of {rounds}")
        taken += await trial()
    return taken


def _steady(expose: PortalExpose) -> bool:
    status = expose.status
    progressing = condition_of(status.conditions, "Progressing") if status else None
    return progressing is not None and progressing.status == "False"


def _process(pod: Pod) -> psutil.Process:
    """The process of a pod: the child of ours that was told its name."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if child.environ().get("HOSTNAME") == pod.metadata.name:
                return child
    raise LookupError(pod.metadata.name)


def _say(what: str) -> None:
    print(f"· {what}", file=sys.stderr, flush=True)


def _is(part: dict[str, Any], kind: str, name: str) -> bool:
    return bool(part["kind"] == kind and part["metadata"]["name"] == name)


def _renamed(part: dict[str, Any], name: str) -> dict[str, Any]:
    app = {**part["spec"]["app"], "name": name}
    meta, spec = {**part["metadata"], "name": name}, {**part["spec"], "app": app}
    return {**part, "metadata": meta, "spec": spec}


async def _timed(
    cause: Callable[[], Awaitable[object]], effect: Callable[[], Awaitable[None]]
) -> float:
    """Seconds from a cause until its effect is seen."""
    seen = asyncio.ensure_future(effect())
    await asyncio.sleep(0)
    began = perf_counter()
    await cause()
    await seen
    return perf_counter() - began


@asynccontextmanager
async def _opened() -> AsyncIterator[Bench]:
    plan = ClusterConfig(
        BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(0), node=LocalNode()
    )
    async with run_cluster(plan) as cluster:
        metrics = Recording()
        manager = Manager("portal")
        chosen = Options(enable_webhooks=False)
        declare(manager, chosen, http_lines, metrics)
        tunnel_class.controllers(manager)
        transport = _transport(cluster)
        await install_crds(transport, [PortalExpose, TunnelClass])
        client = Client(Rest(transport), manager="bench")
        async with manager.running(Environment(transport)):
            await _prepare(client)
            yield Bench(client, metrics)


def _transport(cluster: Cluster) -> InProcessTransport:
    cluster.server.tokens.add("bench", admin("bench"))
    return InProcessTransport(cluster.server, "bench")


async def _prepare(client: Client) -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE}}
    await Applier(client.rest, "bench", PLACE).apply((space, *sample.manifests()))
    headers = {"Content-Type": "application/merge-patch+json"}
    body = msgspec.json.encode({"spec": {"replicas": TUNNELS}})
    await client.raw("PATCH", CLASS, body=body, headers=headers)


async def _measure(trials: int) -> Figures:
    async with _opened() as bench:
        return await bench.figures(trials)


if __name__ == "__main__":
    logs.configure(level="error")
    print(msgspec.json.encode(asyncio.run(_measure(int(sys.argv[1])))).decode())
