"""An upgrade of a chain with everything real but the chain: operator, sidecars, volumes, pods.

The nodes are simulated, and halt as those of SDK 0.50 do: alive, and claiming to be in sync.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import patience
from quintant import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest
from quintant.cluster.kubelet.process.die_with_parent import die_with_parent
from quintant.core.errors import TransportError

NAMESPACE, NAME = "cosmos-demo", "up"
NODES = f"/apis/cosmos.strange.love/v1/namespaces/{NAMESPACE}/cosmosfullnodes"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
HEIGHT = 20
OVERRIDES = f"""\
[p2p]
addr_book_strict = false
[chainsim]
plan_name = "v2"
plan_height = {HEIGHT}
"""
SIMULATOR = ["quintant", "agent", "chainsim"]
Plain = dict[str, Any]


def full_node() -> Plain:
    init = [
        *("init", NAME, "--chain-id", "up-1"),
        *("--home", "$(CHAIN_HOME)", "--pristine", "$(HOME)/.tmp"),
    ]
    label = {"fieldRef": {"fieldPath": "metadata.labels['app.kubernetes.io/version']"}}
    version = {"name": "CHAINSIM_VERSION", "valueFrom": label}
    spec = {
        "replicas": 2,
        "chain": {
            "chainID": "up-1",
            "network": "simnet",
            "binary": "chainsim",
            "app": {"minGasPrice": "0stake"},
            "config": {"overrides": OVERRIDES},
            "versions": [
                {"height": 0, "image": "quintant:v1"},
                {"height": HEIGHT, "image": "quintant:v2"},
            ],
        },
        "podTemplate": {
            "terminationGracePeriodSeconds": 3,
            "initContainers": [{"name": "chain-init", "command": SIMULATOR, "args": init}],
            "containers": [{"name": "node", "command": SIMULATOR, "env": [version]}],
        },
        "volumeClaimTemplate": {
            "storageClassName": "standard",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    meta = {"name": NAME, "namespace": NAMESPACE}
    kind = {"apiVersion": "cosmos.strange.love/v1", "kind": "CosmosFullNode"}
    return {**kind, "metadata": meta, "spec": spec}


@contextmanager
def demo(kubeconfig: Path) -> Iterator[None]:
    """A cluster with the operator in it."""
    line = (sys.executable, "-m", "quintant", "demo", "cosmos", "--kubeconfig", str(kubeconfig))
    with subprocess.Popen(
        die_with_parent(line), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield
        finally:
            process.terminate()


@asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[HttpTransport]:
    while not kubeconfig.exists():  # noqa: ASYNC110, ASYNC240
        await asyncio.sleep(0.2)
    transport = HttpTransport(Config.load(kubeconfig))
    try:
        yield transport
    finally:
        await transport.close()


async def create(transport: HttpTransport) -> None:
    body = json.dumps(full_node()).encode()
    while True:
        try:
            answer = await transport.request(ApiRequest("POST", NODES, {}, body=body))
            if answer.status in (201, 409):
                return
        except TransportError:
            pass
        await asyncio.sleep(0.5)


async def found(transport: HttpTransport, path: str) -> Plain:
    answer = await transport.request(ApiRequest("GET", path, {}))
    read: Plain = json.loads(answer.body)
    return read


def images(pods: Plain) -> dict[str, str]:
    return {
        pod["metadata"]["name"]: next(
            each["image"] for each in pod["spec"]["containers"] if each["name"] == "node"
        )
        for pod in pods["items"]
        if pod["metadata"]["name"].startswith(f"{NAME}-")
    }


async def test_every_node_is_replaced_once_it_wrote_its_upgrade_and_none_before(
    tmp_path: Path,
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    patience.refresh()
    with demo(kubeconfig):
        async with patience.within(110), connected(kubeconfig) as transport:
            await create(transport)
            early: set[str] = set()
            while True:
                running = images(await found(transport, PODS))
                status = (await found(transport, f"{NODES}/{NAME}")).get("status", {})
                told = status.get("upgradeInfo", {})
                # The pods were read before the status: what replaced one was told by then.
                early |= {pod for pod, each in running.items() if each.endswith("v2")} - set(told)
                heights = [each.get("height") or 0 for each in status.get("sync", {}).values()]
                past = len(heights) == 2 and min(heights) > HEIGHT
                if (
                    past
                    and status.get("inSyncReplicas") == 2
                    and set(running.values()) == {"quintant:v2"}
                ):
                    break
                await asyncio.sleep(0.5)
            assert early == set()
            upgrade = {"height": HEIGHT, "name": "v2"}
            assert told == {"up-0": upgrade, "up-1": upgrade}
