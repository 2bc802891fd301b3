"""A cluster under virtual time with shifu in it: simulated nodes, the scheduler, Kubernetes' own
controllers, and modelled agents that say how their devices are.

The operator runs under exactly its generated roles. Timings are those of a demo: figures every
second, a node lost three seconds after it is not ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Namespace, Node, Pod, Service, ServiceAccount
from quintant.api.events import Event
from quintant.api.metrics import NodeMetrics
from quintant.api.quantity import Quantity
from quintant.cluster.common.labels import FAULT, SIMULATED
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.controllers import controllers as kubernetes
from quintant.cluster.scheduler import scheduler
from quintant.cluster.simulated.component import simulator
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.clock import Random, monotonic, timestamp
from quintant.core.errors import NotFound, QuintantError
from quintant.core.object import K, Object, ObjectMeta
from quintant.operators.shifu import controllers
from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceSpec, UpstreamEdgeDevice
from quintant.operators.shifu.api.names import GROUP, LOCATION
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.api.telemetry import TelemetryService
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.remote import NodeFiguresSource
from quintant.operators.shifu.report.pages import EdgeMapPages
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.manager import Manager
from quintant.testing import GrantedAccount, InProcessCluster, grant, kind, verb

DEVICES, SHIFUS, HOME = "devices", "deviceshifu", "shifu-system"
DEMO = Options(
    collect_period=1.0, node_lost_after=3.0, node_stable_after=5.0, cooldown=5.0,
    settle_delay=0.5, edgemap_addr="", move_timeout=20.0, write_qps=1000,
    allowed_images=("example.dev/*",),
)  # fmt: skip
GIB = 2**30
ANSWERS = {
    "type": "DeviceReachable", "status": "True", "reason": "Answers", "message": "",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}  # fmt: skip
"""What an agent says of a device that answers."""
AGENT_SECONDS = 0.5
CROWD_SECONDS = 600.0
"""Within which a thousand devices are there, at the slowest rate of a test."""


@dataclass
class ShifuTestbed:
    """The cluster, and what a test does with it."""

    cluster: InProcessCluster
    options: Options = DEMO
    used: dict[str, int] | None = None
    """Bytes that each node uses; None asks the metrics API of the cluster."""
    account: GrantedAccount | None = None
    engines: list[Engine] = field(default_factory=list)
    topologies: dict[Engine, Topology] = field(default_factory=dict)
    """What each process knows."""
    topology: Topology | None = None
    """That of the newest process."""
    metrics: NodeFiguresSource | None = None
    """The metrics API, where a test brings its own."""

    @property
    def client(self) -> Client:
        return self.cluster.client

    async def start(self, options: Options | None = None, *, elect: bool = False) -> Engine:
        """Start a process of the operator under its roles."""
        manager = Manager("shifu", leader_elect=elect)
        manager.configure(lease_namespace=HOME)
        controllers(manager, options or self.options, self.figures)
        self.account = await grant(self.cluster, manager, HOME)
        environment = self.cluster.environment(self.account.credentials)
        engine = await self.cluster.run(manager, environment=environment)
        self.engines.append(engine)
        pages = [each.run for each in manager.runnables if isinstance(each.run, EdgeMapPages)]
        self.topology = self.topologies[engine] = pages[0].topology
        return engine

    async def crash(self, engine: Engine) -> None:
        """Kill a process of the operator."""
        self.engines.remove(engine)
        del self.topologies[engine]
        await self.cluster.crash(engine)

    async def stop(self) -> None:
        """Stop every process of the operator."""
        for engine in self.engines:
            await self.cluster.stop(engine)
        self.engines.clear()
        self.topologies.clear()

    async def figures(self, client: Client) -> Sequence[NodeMetrics]:
        """Be the metrics API, where a test says what nodes use."""
        if self.metrics is not None:
            return await self.metrics(client)
        if self.used is None:
            return await client.list(NodeMetrics, live=True)
        now = timestamp(self.cluster.clock.now())
        return [
            NodeMetrics(
                metadata=ObjectMeta(name=name), timestamp=now, window="1s",
                usage={"memory": Quantity(str(used)), "cpu": Quantity("250m")},
            )
            for name, used in self.used.items()
        ]  # fmt: skip

    async def node(
        self, name: str, *, memory: str = "4Gi", pods: int = 110, at: str = "", **more: Any
    ) -> None:
        """Add a node, and wait until it is ready; pods start on simulated ones only."""
        notes = {LOCATION: at} if at else {}
        simulated = {SIMULATED: "true"} if more.pop("simulated", True) else {}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        size = {"cpu": "64", "memory": memory, "pods": str(pods)}
        body = {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {
                "name": name, "annotations": notes | more.pop("annotations", {}),
                "labels": {**simulated, **more.pop("labels", {})},
            },
            "spec": more.pop("spec", {}),
            "status": {
                "capacity": size, "allocatable": size,
                "conditions": [] if simulated else [ready],
            },
        }  # fmt: skip
        await self.client.raw("POST", "/api/v1/nodes", body=msgspec.json.encode(body))
        await self.cluster.eventually(Node, name, "", until=_node_ready)

    async def nodes(self, *names: str, **more: Any) -> None:
        """Add simulated nodes."""
        for name in names:
            await self.node(name, **more)

    async def crowd(self, number: int, node: str, *, priorities: bool = False) -> list[str]:
        """A node with many devices on it, the last the most important; their names."""
        await self.node(node, memory="64Gi", pods=2000)
        names = [f"d{each:04}" for each in range(number)]
        for each, name in enumerate(names):
            await self.device(name, hints={"priority": str(each)} if priorities else {})
        async with asyncio.timeout(CROWD_SECONDS):
            while len(await self.where()) < number:
                await self.cluster.advance(5)
        assert set((await self.where()).values()) == {node}
        return names

    def changes(self, what: type[Object]) -> list[float]:
        """When the operator changed or deleted objects of a kind."""
        seen = self.cluster.faults.seen(verb("patch", "delete") & kind(what))
        return [each.at for each in seen]

    async def fault(self, name: str, fault: str | None) -> None:
        """Make a node fail, or be well again."""
        await self.merge(f"/api/v1/nodes/{name}", {"metadata": {"annotations": {FAULT: fault}}})

    async def delete_node(self, name: str) -> None:
        """Delete a node for good."""
        await self.client.delete(await self.client.get(Node, name))

    async def device(
        self, name: str, *, hints: Mapping[str, str] | None = None, namespace: str = DEVICES,
        **spec: Any,
    ) -> EdgeDevice:  # fmt: skip
        """Create a device that speaks HTTP, unless told otherwise."""
        notes = {f"{GROUP}/{key}": value for key, value in (hints or {}).items()}
        given = {"protocol": "HTTP", "address": "10.0.0.1:80", "connection": "Ethernet", **spec}
        return await self.client.create(
            EdgeDevice(
                metadata=ObjectMeta(name=name, namespace=namespace, annotations=notes),
                spec=EdgeDeviceSpec(**given),
            )
        )

    async def hint(self, name: str, **hints: str | None) -> None:
        """Change hints of a device."""
        notes = {f"{GROUP}/{key.replace('_', '-')}": value for key, value in hints.items()}
        await self.merge(self.path(name), {"metadata": {"annotations": notes}})

    def path(self, name: str, namespace: str = DEVICES) -> str:
        """Where a device is."""
        return f"/apis/{GROUP}/v1alpha1/namespaces/{namespace}/edgedevices/{name}"

    async def get(self, name: str, namespace: str = DEVICES) -> EdgeDevice:
        return await self.client.get(EdgeDevice, name, namespace)

    async def placed(self, name: str, node: str = "", *, within: float = 30.0) -> EdgeDevice:
        """Wait until a device has a ready deviceShifu, on a node if one is named."""
        return await self.cluster.eventually(
            EdgeDevice, name, DEVICES, within=within,
            until=lambda it: is_true(it, "DeviceShifuReady") and node in ("", node_of(it)),
        )  # fmt: skip

    async def said(self, name: str, type: str, reason: str, *, within: float = 30.0) -> EdgeDevice:
        """Wait until a condition of a device has a reason."""
        return await self.cluster.eventually(
            EdgeDevice, name, DEVICES, within=within,
            until=lambda it: reason_of(it, type) == reason,
        )  # fmt: skip

    async def phase(self, name: str, phase: str, *, within: float = 30.0) -> EdgeDevice:
        """Wait until a device has a phase."""
        return await self.cluster.eventually(
            EdgeDevice, name, DEVICES, within=within,
            until=lambda it: it.status is not None and it.status.phase == phase,
        )  # fmt: skip

    async def merge(self, path: str, change: Any) -> None:
        """Change something as a user would."""
        await self.client.raw(
            "PATCH", path, body=msgspec.json.encode(change),
            headers={"Content-Type": "application/merge-patch+json"},
        )  # fmt: skip

    async def apply(self, *manifests: Mapping[str, Any]) -> None:
        """Apply manifests of the API as they are."""
        await Applier(self.client.rest, "user").apply(manifests)

    async def deployments(self) -> list[Deployment]:
        return list(await self.client.list(Deployment, SHIFUS))

    async def pods(self) -> list[Pod]:
        """The pods of deviceShifus that are not going away."""
        return [pod for pod in await self.client.list(Pod, SHIFUS) if not pod.deleting]

    async def run_pods(self, node: str, seconds: float = 5.0) -> None:
        """Be the kubelet of a node that is not simulated for a while: its pods are ready."""
        ready = {"type": "Ready", "status": "True"}
        ends = monotonic() + seconds
        while monotonic() < ends:
            now = timestamp(self.cluster.clock.now())
            beat = {"conditions": [{**ready, "lastHeartbeatTime": now}]}
            await self.merge(f"/api/v1/nodes/{node}/status", {"status": beat})
            for pod in await self.pods():
                if pod.spec.node_name == node and not pod.ready:
                    path = f"/api/v1/namespaces/{SHIFUS}/pods/{pod.metadata.name}/status"
                    await self.merge(path, {"status": {"phase": "Running", "conditions": [ready]}})
            await self.cluster.advance(1)

    async def where(self) -> dict[str, str]:
        """The node of each device's running pod, by the device's name."""
        return {device_of(pod): pod.spec.node_name for pod in await self.pods() if pod.ready}

    async def children(self) -> dict[str, list[str]]:
        """The names of what is composed, by kind."""
        kinds = (Deployment, Service, ConfigMap)
        return {kind.__name__: await self._names(kind) for kind in kinds}

    async def reasons(self) -> list[str]:
        """The reasons of the events that the operator told."""
        await self.cluster.advance(1.5)  # they are written in the background
        found = await self.client.list(Event)
        ours = [each for each in found if each.regarding.kind in ("EdgeDevice", "EdgeNode")]
        return [each.reason for each in sorted(ours, key=lambda each: each.event_time or "")]

    async def attend(self) -> None:
        """Be the agents: say that devices run whose pods are ready."""
        while True:
            await asyncio.sleep(AGENT_SECONDS)
            ready = {(device_of(pod), _namespace_of(pod)) for pod in await self.pods() if pod.ready}
            for device in await self.client.list(EdgeDevice):
                key, status = tuple(device.key), device.status
                if key in ready and status is not None and status.phase in ("Pending", "Unknown"):
                    await self.report(device.metadata.name, edgedevicephase="Running")

    async def report(self, name: str, namespace: str = DEVICES, **status: Any) -> None:
        """Say something of a device, as its agent does."""
        path = f"{self.path(name, namespace)}/status"
        body = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "EdgeDevice", "status": status}
        body["metadata"] = {"name": name, "namespace": namespace}
        with suppress(NotFound):
            await self.client.raw(
                "PATCH", f"{path}?fieldManager=deviceshifu-agent&force=true",
                body=msgspec.json.encode(body),
                headers={"Content-Type": "application/apply-patch+yaml"},
            )  # fmt: skip

    async def _names(self, kind: type[K]) -> list[str]:
        found = await self.client.list(kind, SHIFUS)
        return sorted(each.metadata.name for each in found if _is_composed(each))


def _is_composed(obj: Object) -> bool:
    return obj.metadata.labels.get("app.kubernetes.io/managed-by") == "shifu-controller"


def condition_of(device: EdgeDevice, type: str) -> Any:
    found = device.status.conditions if device.status is not None else ()
    return next((each for each in found if each.type == type), None)


def is_true(device: EdgeDevice, type: str) -> bool:
    found = condition_of(device, type)
    return found is not None and found.status == "True"


def reason_of(device: EdgeDevice, type: str) -> str:
    found = condition_of(device, type)
    return found.reason if found is not None else ""


def node_of(device: EdgeDevice) -> str:
    placement = device.status.placement if device.status is not None else None
    return placement.node_name if placement is not None else ""


def device_of(pod: Pod) -> str:
    env = {each.name: each.value for each in pod.spec.containers[0].env}
    return env.get("EDGEDEVICE_NAME", "")


def _namespace_of(pod: Pod) -> str:
    env = {each.name: each.value for each in pod.spec.containers[0].env}
    return env.get("EDGEDEVICE_NAMESPACE", DEVICES)


def _node_ready(node: Node) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in node.status.conditions)


@asynccontextmanager
async def opened(
    options: Options = DEMO,
    *,
    agents: bool = True,
    started: bool = True,
    figures: NodeFiguresSource | None = None,
) -> AsyncIterator[ShifuTestbed]:
    """A testbed in which the operator is at work."""
    cluster = InProcessCluster(rbac=True)
    device = EdgeDevice if options.crd_flavor == "ours" else UpstreamEdgeDevice
    await cluster.install(device, EdgeNode, TelemetryService)
    for name in (DEVICES, SHIFUS, "shifu-service", HOME):
        await cluster.client.create(Namespace(metadata=ObjectMeta(name=name)))
    await cluster.client.create(
        ServiceAccount(metadata=ObjectMeta(name="edgedevice-sa", namespace=SHIFUS))
    )
    testbed = ShifuTestbed(cluster, options, metrics=figures)
    parts = (Component(kubernetes()), scheduler(), simulator(Fleet(0), clock=cluster.clock))
    async with AsyncExitStack() as stack:
        for part in parts:
            running = run_component(cluster.server, part, cluster.clock, Random(0))
            await stack.enter_async_context(running)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(_attended(testbed)) if agents else None
            if started:
                await testbed.start()
            try:
                yield testbed
            finally:
                if task is not None:
                    task.cancel()
        await cluster.close()


async def _attended(testbed: ShifuTestbed) -> None:
    while True:
        try:
            await testbed.attend()
        except QuintantError:
            continue
