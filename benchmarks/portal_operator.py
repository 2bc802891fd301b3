"""The four promises of the Portal Expose contract, measured with real relays and tunnels."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from time import perf_counter
from typing import Any

import msgspec

from benchmarks.programs import answer
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from quintant.api.apps import Deployment
from quintant.api.core import Pod, Service
from quintant.cluster.auth import admin
from quintant.cluster.node.options import Options as Node
from quintant.cluster.simulated.fleet import Fleet
from quintant.cluster.up import Cluster, Plan, running
from quintant.operators.portal import sample
from quintant.operators.portal.api import PortalExpose, TunnelClass
from quintant.operators.portal.builders import EXPOSE_LABEL
from quintant.operators.portal.metrics import Meter, PortalMetrics
from quintant.operators.portal.options import Options
from quintant.operators.portal.reconcile import Reconcile
from quintant.operators.portal.remote import Scraper, http_lines
from quintant.operators.portal.wiring import classes, exposes
from quintant.runtime import logs
from quintant.runtime.address import Address
from quintant.runtime.client.client import Client
from quintant.runtime.client.manifests import Applier
from quintant.runtime.client.rest import Rest
from quintant.runtime.client.transport import InProcessTransport
from quintant.runtime.environment import Environment
from quintant.runtime.install import install
from quintant.runtime.manager import Manager
from quintant.runtime.object import K

PLACE = sample.NAMESPACE
ROUNDS = 5
KILLS = 3
AT_ONCE = 8
PATIENCE_SECONDS = 120.0
CLASS = "/apis/portal.gosuda.org/v1alpha1/tunnelclasses/default"
METHOD = (
    "the sample of the demo on the embedded cluster: two relays, three tunnels, a web program, all "
    "processes of this machine, and the operator in the process that measures. One clock stamps "
    "causes and what a watch shows of them. A pass is all of a reconcile but the API calls in it. "
    "{rounds} rounds of deleting and creating the Service; {kills} of killing a tunnel's pod, and "
    "{kills} of killing a relay's; {more} PortalExposes at once, until the first process "
    "of each runs; a change of the class's size, until three new tunnels are ready."
)


class Figures(msgspec.Struct):
    """Seconds of every trial."""

    passes: list[float]
    service: list[float]
    tunnel: list[float]
    relay: list[float]
    start: list[float]
    rollout: list[float]


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure all four, in a process of their own."""
    say("portal_operator")
    found = answer("portal_operator", to=Figures, env={})
    rows = [
        ("a pass without API calls", found.passes, 0.5),
        ("Service gone or back, until the status says so", found.service, 5.0),
        ("tunnel lost, until the status says so", found.tunnel, 5.0),
        ("relay lost, until the status says so", found.relay, 5.0),
        ("PortalExpose, until its first tunnel starts", found.start, 30.0),
        ("rolling update of three tunnels", found.rollout, 60.0),
    ]
    yield Table(
        "The promises of Portal Expose",
        METHOD.format(rounds=ROUNDS, kills=KILLS, more=AT_ONCE),
        ("", "trials", "median", "worst", "promised"),
        [_row(name, taken, limit) for name, taken, limit in rows],
        [
            Budget(f"{name}: under {limit:g} s", f"{max(taken):.3f} s", max(taken) < limit)
            for name, taken, limit in rows
        ],
    )


def _row(name: str, taken: list[float], limit: float) -> tuple[str, ...]:
    middle = sorted(taken)[len(taken) // 2]
    return name, str(len(taken)), f"{middle:.4f} s", f"{max(taken):.4f} s", f"{limit:g} s"


class Recording(PortalMetrics):
    """Keeps how long each pass took, API calls excepted."""

    def __init__(self) -> None:
        super().__init__()
        self.passes: list[float] = []

    @contextmanager
    def measured(self) -> Iterator[Meter]:
        began = perf_counter()
        with super().measured() as meter:
            yield meter
        self.passes.append(perf_counter() - began - meter.seconds)


class Bench:
    """A cluster with the sample in it, and the trials."""

    def __init__(self, client: Client, metrics: Recording) -> None:
        self.client, self.metrics = client, metrics

    async def figures(self) -> Figures:
        _say("the sample")
        await self._phase("Ready")
        _say("the Service")
        service = [each for _ in range(ROUNDS) for each in await self._service()]
        _say("tunnels")
        tunnel = [await self._tunnel() for _ in range(KILLS)]
        _say("a relay")
        relay = [await self._relay() for _ in range(KILLS)]
        _say("a rolling update")
        rollout = [await self._rollout()]
        _say("many at once")
        start = await self._start()
        return Figures(self.metrics.passes, service, tunnel, relay, start, rollout)

    async def _service(self) -> tuple[float, float]:
        web = await self.client.get(Service, "web", PLACE)
        gone = await _timed(lambda: self.client.delete(web), lambda: self._phase("Failed"))
        (part,) = (each for each in sample.manifests() if _is(each, "Service", "web"))
        back = await _timed(lambda: self._apply(part), lambda: self._phase("Ready"))
        return gone, back

    async def _tunnel(self) -> float:
        pod = (await self._tunnels())[0]
        took = await _timed(
            lambda: self.client.delete(pod, grace=0), lambda: self._phase("Degraded")
        )
        await self._phase("Ready")
        return took

    async def _relay(self) -> float:
        (pod,) = await self.client.list(Pod, PLACE, labels={"app": sample.RELAYS[1]})
        took = await _timed(
            lambda: self.client.delete(pod, grace=0), lambda: self._phase("Degraded")
        )
        await self._phase("Ready")
        return took

    async def _rollout(self) -> float:
        before = await self.client.get(Deployment, f"{sample.APP}-tunnel", PLACE)

        def done(it: Deployment) -> bool:
            status = it.status
            fresh = it.metadata.generation > before.metadata.generation
            settled = status.updated_replicas == status.replicas == status.ready_replicas == 3
            return fresh and status.observed_generation == it.metadata.generation and settled

        return await _timed(
            lambda: self._merge(CLASS, {"spec": {"size": "medium"}}),
            lambda: self._until(Deployment, f"{sample.APP}-tunnel", done),
        )

    async def _start(self) -> list[float]:
        # Small, or not all of them find room on a machine of two cores.
        await self._merge(CLASS, {"spec": {"replicas": 1, "size": "small"}})
        (part,) = (each for each in sample.manifests() if each["kind"] == "PortalExpose")
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._first(_renamed(part, f"more-{number}")))
                for number in range(AT_ONCE)
            ]
        return [task.result() for task in tasks]

    async def _first(self, part: dict[str, Any]) -> float:
        name = part["metadata"]["name"]
        return await _timed(lambda: self._apply(part), lambda: self._running(name))

    async def _running(self, name: str) -> None:
        labels = {EXPOSE_LABEL: name}
        async for change in self.client.watch(Pod, PLACE, labels=labels):
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

    async def _tunnels(self) -> list[Pod]:
        return list(await self.client.list(Pod, PLACE, labels={EXPOSE_LABEL: sample.APP}))

    async def _apply(self, part: Any) -> None:
        await Applier(self.client.rest, "bench").apply((part,))

    async def _merge(self, path: str, change: Any) -> None:
        headers = {"Content-Type": "application/merge-patch+json"}
        await self.client.raw("PATCH", path, body=msgspec.json.encode(change), headers=headers)


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
    plan = Plan(Address("127.0.0.1", 0), controllers=True, fleet=Fleet(0), node=Node())
    async with running(plan) as cluster:
        metrics = Recording()
        manager = Manager("portal")
        chosen = Options(enable_webhooks=False)
        exposes(manager, Reconcile(chosen, Scraper(http_lines), metrics))
        classes(manager)
        transport = _transport(cluster)
        await install(transport, [PortalExpose, TunnelClass])
        client = Client(Rest(transport), manager="bench")
        async with manager.running(Environment(transport)):
            await _furnish(client)
            yield Bench(client, metrics)


def _transport(cluster: Cluster) -> InProcessTransport:
    cluster.server.tokens.add("bench", admin("bench"))
    return InProcessTransport(cluster.server, "bench")


async def _furnish(client: Client) -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE}}
    await Applier(client.rest, "bench", PLACE).apply((space, *sample.manifests()))
    headers = {"Content-Type": "application/merge-patch+json"}
    body = msgspec.json.encode({"spec": {"replicas": 3}})
    await client.raw("PATCH", CLASS, body=body, headers=headers)


async def _measure() -> Figures:
    async with _opened() as bench:
        return await bench.figures()


if __name__ == "__main__":
    logs.configure(level="error")
    print(msgspec.json.encode(asyncio.run(_measure())).decode())
