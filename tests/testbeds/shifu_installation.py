"""shifu as an administrator installs it on a real API server, with nobody else in the cluster.

`kubectl apply -k` of a folder of `deploy/`, then the operator in the test's own process as the
service account that was made, and agents as processes with real tokens. There are no kubelets and
no controllers: nodes are what a test says, and Deployments stay without pods.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

import patience
from conformance.kubectl import programs
from envtest import RealCluster
from quintant import Client, Config
from quintant.api.apps import Deployment
from quintant.client.config.user import Impersonate
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.object import K
from quintant.operators.shifu import controllers
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.api.names import DEVICES, GROUP, PLACED_NODE
from quintant.operators.shifu.options import Options
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.manager import Manager
from testbeds.mounted_account import mounted_account
from testbeds.programs import program
from testbeds.shifu_real import DEPLOY, HOME, SHIFUS

DISCOVERY = f"/apis/{GROUP}/v1alpha1"
FOLDERS = {"ours": DEPLOY, "upstream": DEPLOY / "upstream-agents"}
"""What is installed, by the flavour of its EdgeDevice."""
WAIT_SECONDS = 20.0
KUBECTL_SECONDS = 60.0


class RefusalLog:
    """A way to the API server that remembers what was forbidden on it."""

    def __init__(self, inner: HttpTransport) -> None:
        self._inner = inner
        self.forbidden: list[str] = []

    async def request(self, call: ApiRequest) -> ApiResponse:
        found = await self._inner.request(call)
        if found.status == 403:
            self.forbidden.append(f"{call}: {found.body.decode()}")
        return found

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        return self._inner.stream(call)

    async def close(self) -> None:
        await self._inner.close()


@dataclass
class Installation:
    """The cluster, and what a test does with it."""

    flavor: str
    config: Config
    client: Client
    refusals: RefusalLog
    folder: Path
    nodes: list[str] = field(default_factory=list)

    async def node(self, name: str, *, ready: bool = True) -> None:
        """Add a node, or say how it is."""
        body: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
        await self._apply(f"/api/v1/nodes/{name}", body)
        size = {"cpu": "4", "memory": "4Gi", "pods": "110"}
        condition = {"type": "Ready", "status": str(ready), "reason": "Test", "message": ""}
        body["status"] = {"capacity": size, "allocatable": size, "conditions": [condition]}
        await self._apply(f"/api/v1/nodes/{name}/status", body)
        if name not in self.nodes:
            # A new node is tainted as not ready, and nobody is there to take that away.
            await self.client.raw(
                "PATCH", f"/api/v1/nodes/{name}", body=b'{"spec":{"taints":null}}',
                headers={"Content-Type": "application/merge-patch+json"},
            )  # fmt: skip
            self.nodes.append(name)

    async def device(self, name: str, protocol: str, address: str, **spec: Any) -> None:
        """Create a device."""
        meta = {"name": name, "namespace": DEVICES}
        given = {"protocol": protocol, "address": address, "connection": "Ethernet", **spec}
        body = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "EdgeDevice", "metadata": meta}
        path = f"{DISCOVERY}/namespaces/{DEVICES}/edgedevices/{name}"
        await self._apply(path, {**body, "spec": given})

    async def placed(self, name: str, *, beside: str = "") -> str:
        """The node of a device's Deployment, once it is another than the one named."""
        found = await self.until(
            Deployment, f"deviceshifu-{name}", SHIFUS,
            lambda it: it.metadata.annotations.get(PLACED_NODE, "") not in ("", beside),
        )  # fmt: skip
        return found.metadata.annotations[PLACED_NODE]

    async def phase(self, name: str, phase: str) -> EdgeDevice:
        """Wait until a device has a phase."""
        return await self.until(
            EdgeDevice, name, DEVICES, lambda it: it.status is not None and it.status.phase == phase
        )

    async def gone(self, name: str) -> None:
        """Wait until nothing is left of what was composed for a device."""
        await self.client.wait_for(
            Deployment, f"deviceshifu-{name}", SHIFUS, until=lambda it: it is None,
            timeout=patience.seconds(WAIT_SECONDS),
        )  # fmt: skip

    async def account(self) -> dict[str, str]:
        """The variables of an agent's pod."""
        return await mounted_account(self.config, self.client, "edgedevice-sa", SHIFUS, self.folder)

    @asynccontextmanager
    async def agent(self, name: str, config: Mapping[str, str]) -> AsyncIterator[None]:
        """Our agent of a device, as its pod would run it."""
        place = self.folder / name
        place.mkdir()
        for key, text in config.items():
            (place / key).write_text(text)
        environ = {**await self.account(), "EDGEDEVICE_NAME": name, "EDGEDEVICE_NAMESPACE": DEVICES}
        line = ("deviceshifu", "--config", str(place), "--listen", "127.0.0.1", "--port", "0")
        async with program(*line, **environ):
            yield

    async def until(
        self, kind: type[K], name: str, namespace: str, wanted: Callable[[K], bool]
    ) -> K:
        """An object as soon as it is as wanted."""
        try:
            found = await self.client.wait_for(
                kind, name, namespace, timeout=patience.seconds(WAIT_SECONDS),
                until=lambda it: it is not None and wanted(it),
            )  # fmt: skip
        except TimeoutError:
            last = await self.client.find(kind, name, namespace)
            refused = self.refusals.forbidden
            raise AssertionError(f"not in time; it is {last}; refused: {refused}") from None
        assert found is not None
        return found

    async def create(self, path: str, body: Mapping[str, Any]) -> None:
        """Create an object as it is."""
        headers = {"Content-Type": "application/json"}
        await self.client.raw("POST", path, body=msgspec.json.encode(body), headers=headers)

    async def _apply(self, path: str, body: Mapping[str, Any]) -> None:
        await self.client.raw(
            "PATCH", f"{path}?fieldManager=test&force=true", body=msgspec.json.encode(body),
            headers={"Content-Type": "application/apply-patch+yaml"},
        )  # fmt: skip


@asynccontextmanager
async def installed_on(
    real: RealCluster, client: Client, flavor: str, folder: Path
) -> AsyncIterator[Installation]:
    """shifu by `kubectl apply -k`, and the operator at work under what that grants."""
    await kubectl_at(real.kubeconfig, "apply", "-k", str(FOLDERS[flavor]))
    await _discovered(client, flavor)
    config = Config.load(real.kubeconfig)
    user = Impersonate(user=f"system:serviceaccount:{HOME}:shifu")
    way = RefusalLog(
        HttpTransport(structs.replace(config, user=structs.replace(config.user, impersonate=user)))
    )
    manager = Manager("shifu", leader_elect=True)
    manager.configure(lease_namespace=HOME)
    controllers(manager, _options(flavor))
    try:
        async with manager.running(Environment(way)):
            yield Installation(flavor, config, client, way, folder)
    finally:
        await way.close()


def _options(flavor: str) -> Options:
    quick = Options(
        settle_delay=0.2, collect_period=1.0, node_lost_after=1.0, node_stable_after=2.0,
        edgemap_addr="",
    )  # fmt: skip
    return quick if flavor == "ours" else structs.replace(quick, crd_flavor="upstream")


async def kubectl_at(kubeconfig: Path, *words: str) -> str:
    """Run a kubectl, as the administrator of a cluster; what it printed."""
    line = (str(programs()[0]), "--kubeconfig", str(kubeconfig), *words)
    child = await asyncio.create_subprocess_exec(
        *line, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with patience.within(KUBECTL_SECONDS):
            said, complained = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    assert child.returncode == 0, complained.decode()
    return said.decode()


async def _discovered(client: Client, flavor: str) -> None:
    """Wait until the server serves EdgeDevices as they were just defined."""
    async with patience.within(WAIT_SECONDS):
        while True:
            listed = msgspec.json.decode(await client.raw("GET", DISCOVERY))["resources"]
            names = {each["name"] for each in listed}
            if ("edgedevices/status" in names) is (flavor == "ours") and "edgenodes" in names:
                return
            await asyncio.sleep(0.1)
