"""A whole cluster of real processes with shifu in it: devices, their deviceShifus, and a caller.

The operator runs in the test's own process, with what `deploy/shifu` grants it and no more.
Everything else is a pod of the local node, by the image table: brokers, servers, agents.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psutil

import patience
from quintant.api.core import Pod
from quintant.client.config.credentials import Credential, StaticCredential, bearer_header
from quintant.client.http.authenticated import SignedTransport
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin, service_account
from quintant.cluster.instance.cluster import Cluster, ClusterConfig, run_cluster
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from quintant.core.object import K
from quintant.core.yaml import load_all
from quintant.keys.sensitive import Sensitive
from quintant.operators.shifu import controllers
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.api.names import DEVICES, GROUP
from quintant.operators.shifu.options import Options
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.manager import Manager
from testbeds.devices import ask

DEPLOY = Path(__file__).parents[2] / "deploy" / "shifu"
SHIFUS, HOME, ACCOUNT = "deviceshifu", "shifu-system", "shifu"
FACADE = 8080
PATIENCE_SECONDS = 60.0
"""How long a test waits for something on a quiet machine before it fails."""
ANSWER_SECONDS = 20.0
"""For one answer of a device, whatever becomes of it."""
QUICK = Options(
    settle_delay=0.2, collect_period=1.0, node_lost_after=3.0, node_stable_after=5.0,
    edgemap_addr="", telemetry_service=True,
)  # fmt: skip
_INSTALLED = (
    "crds/crds", "crds/namespaces", "operator/namespace", "operator/rbac", "operator/objects",
    "telemetry/rbac",
)  # fmt: skip
"""What an administrator applies, but for the operator's own pods."""

JsonObject = dict[str, Any]
Answer = tuple[int, dict[str, str], bytes]


@dataclass
class ShifuSite:
    """The cluster, and what a test does with it."""

    cluster: Cluster
    client: Client

    async def apply(self, *manifests: Mapping[str, Any]) -> None:
        """Apply manifests as they are."""
        await Applier(self.client.rest, "test").apply(manifests)

    async def run(
        self, name: str, image: str, port: int, *, service_port: int = 0,
        volumes: Sequence[JsonObject] = (), **container: Any,
    ) -> str:  # fmt: skip
        """Start a program of the image table behind a Service, and wait until it takes callers."""
        probe = {"tcpSocket": {"port": port}, "periodSeconds": 1}
        main = {"name": "main", "image": image, "readinessProbe": probe, **container}
        await self.apply(
            part("v1", "Pod", name, DEVICES, labels={"app": name}, spec={
                "containers": [main], "terminationGracePeriodSeconds": 1,
                "volumes": list(volumes)}),
            part("v1", "Service", name, DEVICES, spec={
                "selector": {"app": name},
                "ports": [{"port": service_port or port, "targetPort": port}]}),
        )  # fmt: skip
        return (await self.until(Pod, name, DEVICES, lambda it: it.ready)).status.pod_ip

    async def device(
        self, name: str, protocol: str, address: str, config: Mapping[str, str], **spec: Any
    ) -> None:
        """A device with its ConfigMap, as a user writes them; its deviceShifu is composed."""
        given = {"protocol": protocol, "address": address, "connection": "Ethernet", **spec}
        await self.apply(
            part("v1", "ConfigMap", f"{name}-configmap", SHIFUS, data=dict(config)),
            part(f"{GROUP}/v1alpha1", "EdgeDevice", name, DEVICES, spec=given),
        )

    async def phase(self, name: str, phase: str) -> EdgeDevice:
        """Wait until the agent of a device says how it is."""
        return await self.until(
            EdgeDevice, name, DEVICES, lambda it: it.status is not None and it.status.phase == phase
        )

    async def ask(
        self, name: str, path: str, method: str = "GET", body: bytes = b"", **headers: str
    ) -> Answer:
        """Call a device at the facade of its deviceShifu."""
        pod = await self.shifu(name)
        async with patience.within(ANSWER_SECONDS):
            return await ask(pod.status.pod_ip, FACADE, path, method, body, **headers)

    async def text(
        self, name: str, path: str, method: str = "GET", body: bytes = b""
    ) -> tuple[int, str]:
        """Status and text of an answer."""
        status, _, said = await self.ask(name, path, method, body)
        return status, said.decode()

    async def shifu(self, name: str) -> Pod:
        """The pod of a device's deviceShifu."""
        labels = {"app": f"deviceshifu-{name}"}
        pods = await self.client.list(Pod, SHIFUS, labels=labels)
        (found,) = (each for each in pods if not each.deleting)
        return found

    async def answers(self, name: str, path: str, wanted: Callable[[int, str], bool]) -> str:
        """Ask until the answer is as wanted."""
        said: tuple[int, str] | None = None
        try:
            async with patience.within(PATIENCE_SECONDS):
                while said is None or not wanted(*said):
                    with suppress(OSError, ValueError):
                        said = await self.text(name, path)
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"not in time; the last answer is {said}") from None
        return said[1]

    async def until(
        self, kind: type[K], name: str, namespace: str, wanted: Callable[[K], bool]
    ) -> K:
        """An object as soon as it is as wanted."""
        try:
            found = await self.client.wait_for(
                kind, name, namespace, timeout=patience.seconds(PATIENCE_SECONDS),
                until=lambda it: it is not None and wanted(it),
            )  # fmt: skip
        except TimeoutError:
            last = await self.client.find(kind, name, namespace)
            raise AssertionError(f"not in time; it is {last}") from None
        assert found is not None
        return found

    def processes(self, pod: str) -> list[psutil.Process]:
        """The processes of a pod: those children of ours that were told its name."""
        found = []
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                if child.environ().get("HOSTNAME") == pod:
                    found.append(child)
        return found

    async def kill(self, pod: str) -> None:
        """End a pod's program by force, and wait until the kubelet has started another."""
        before = (await self.client.get(Pod, pod, DEVICES)).status.container_statuses
        counts = [each.restart_count for each in before]
        running = self.processes(pod)
        assert running, f"no process of {pod} is there to be killed"
        for each in running:
            each.kill()
        await self.until(
            Pod, pod, DEVICES,
            lambda it: it.ready
            and [each.restart_count for each in it.status.container_statuses] != counts,
        )  # fmt: skip


def part(
    version: str, kind: str, name: str, namespace: str, labels: Any = None, **rest: Any
) -> JsonObject:
    """A manifest."""
    meta = {"name": name, "namespace": namespace, **({"labels": labels} if labels else {})}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **rest}


def installed(folder: Path = DEPLOY) -> list[JsonObject]:
    """The manifests of an installation, but for the operator's own pods."""
    files = [folder / f"{name}.yaml" for name in _INSTALLED]
    return [
        document
        for file in files
        if file.exists()
        for document in load_all(file.read_bytes(), str(file))
    ]


@asynccontextmanager
async def opened(
    options: Options = QUICK, programs: Sequence[ImageProgram] = ()
) -> AsyncIterator[ShifuSite]:
    """A site in which the operator is at work."""
    node = NodeOptions(tuple(programs))
    plan = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(0), node=node)
    folder = DEPLOY if options.crd_flavor == "ours" else DEPLOY / "upstream-agents"
    async with run_cluster(plan) as cluster:
        cluster.server.tokens.add("test", admin("test"))
        client = Client(Rest(InProcessTransport(cluster.server, "test")), manager="test")
        site = ShifuSite(cluster, client)
        await site.apply(*installed(folder))
        manager = Manager("shifu")
        controllers(manager, options)
        async with manager.running(_environment(cluster)):
            yield site


def _environment(cluster: Cluster) -> Environment:
    """The operator's, as the service account that the installation made."""
    cluster.server.tokens.add("operator", service_account(HOME, ACCOUNT))
    credentials = StaticCredential(Credential(bearer_header(Sensitive("operator"))))
    return Environment(SignedTransport(InProcessTransport(cluster.server), credentials))


def decoded(body: bytes) -> Any:
    """A body that is JSON."""
    return msgspec.json.decode(body)
