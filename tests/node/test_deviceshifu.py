"""deviceShifus as processes of the embedded node, with the images of Shifu's samples."""

from __future__ import annotations

import asyncio
import json
import math
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

import patience
from node.node_fixture import PATIENCE_SECONDS, NodeCluster, fetch, ready
from quintant.core.schema.crd import crd
from quintant.operators.shifu.api.device import EdgeDevice
from quintant.operators.shifu.builders.accounts import OURS
from unit.cluster.api import JsonObject

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEVICES = "/apis/shifu.edgenesis.io/v1alpha1/namespaces/default/edgedevices"
RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
TELEMETRIES = """
telemetrySettings: {telemetryInitialDelayInMilliseconds: 0}
telemetries: {alive: {properties: {instruction: hello}}}
"""


async def allow(node: NodeCluster, account: str) -> None:
    """What the accounts of agents may do, and nothing else."""
    rules = [msgspec.to_builtins(each) for each in OURS]
    await node.api.create(f"{RBAC}/roles", {"metadata": {"name": "agent"}, "rules": rules})
    group = "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"name": "agent"},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": "agent"},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "default"}],
    }
    await node.api.create(f"{RBAC}/rolebindings", binding)


async def deviceshifu(node: NodeCluster, protocol: str, address: str) -> JsonObject:
    """An EdgeDevice, and the pod that upstream's manifests have for it."""
    await node.api.create(DEFINITIONS, crd(EdgeDevice))
    await allow(node, "edgedevice-sa")
    account, mount = await node.account("edgedevice-sa")
    instructions = "instructions:\n  hello:\n  headers:\n"
    data = {"instructions": instructions, "telemetries": TELEMETRIES, "bogus": "x"}
    await node.api.create(CONFIG_MAPS, {"metadata": {"name": "config"}, "data": data})
    spec = {"sku": "s", "connection": "Ethernet", "protocol": protocol, "address": address}
    device: dict[str, Any] = {"metadata": {"name": "edgedevice-x"}, "spec": spec}
    device |= {"apiVersion": "shifu.edgenesis.io/v1alpha1", "kind": "EdgeDevice"}
    await node.api.create(DEVICES, device)
    container = {
        "name": "deviceshifu-http",
        "image": f"edgehub/deviceshifu-http-{protocol.lower()}:v0.101.0",
        "env": [
            {"name": "EDGEDEVICE_NAME", "value": "edgedevice-x"},
            {"name": "EDGEDEVICE_NAMESPACE", "value": "default"},
        ],
        "volumeMounts": [mount, {"name": "config", "mountPath": "/etc/edgedevice/config"}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8080}, "periodSeconds": 1},
    }
    config = {"name": "config", "configMap": {"name": "config"}}
    await node.create(
        "shifu", containers=[container], serviceAccountName="edgedevice-sa",
        volumes=[account, config],
    )  # fmt: skip
    return await node.until("shifu", ready)


async def test_a_device_is_served_and_its_phase_told_and_no_token_leaves(
    node: NodeCluster,
) -> None:
    probe = {"httpGet": {"path": "/health", "port": 11111}, "periodSeconds": 1}
    simulator = {"name": "main", "image": "helloworld-device:v0.0.1", "readinessProbe": probe}
    await node.create("device", containers=[simulator])
    device = await node.until("device", ready)
    shifu = await deviceshifu(node, "HTTP", f"{device['status']['podIP']}:11111")
    place = shifu["status"]["podIP"]
    await told(node, "Running")  # A deviceShifu is ready before it has heard from its device.
    async with patience.within(PATIENCE_SECONDS):
        assert await fetch(place, 8080, "/hello") == (200, "Hello_world from device via shifu!")
        status, said = await fetch(place, 8080, "/headers")
        assert status == 200
        assert "authorization" not in said.lower()
    await node.api.send("DELETE", "/api/v1/namespaces/default/pods/device")
    await told(node, "Failed")
    events = (await node.api.get(EVENTS))["items"]
    [event] = [each for each in events if each["reason"] == "BadConfig"]
    assert event["regarding"]["name"] == "edgedevice-x"
    assert event["note"] == "bogus: is no section that anybody knows"


async def told(node: NodeCluster, phase: str) -> None:
    """Wait until the EdgeDevice has a phase, and the condition that goes with it."""
    async with patience.within(PATIENCE_SECONDS), node.api.watch(DEVICES) as events:
        status: JsonObject = {}
        while status.get("edgedevicephase") != phase:
            status = (await events.next(math.inf))["object"].get("status", {})
        [reachable] = status["conditions"]
        assert reachable["status"] == ("True" if phase == "Running" else "False")


async def test_a_broker_runs_for_the_image_of_mosquitto(node: NodeCluster) -> None:
    probe = {"tcpSocket": {"port": 1883}, "periodSeconds": 1}
    main = {"name": "main", "image": "eclipse-mosquitto:2.0.14", "readinessProbe": probe}
    await node.create("broker", containers=[main])
    pod = await node.until("broker", ready)
    reader, writer = await asyncio.open_connection(pod["status"]["podIP"], 1883)
    body = b"\0\x04MQTT\x04\x02\0\x0a\0\x01x"
    writer.write(bytes([0x10, len(body)]) + body)
    async with patience.within(PATIENCE_SECONDS):
        assert await reader.readexactly(4) == b"\x20\x02\0\0"
    writer.close()


@asynccontextmanager
async def program(*words: str) -> AsyncIterator[tuple[str, int]]:
    """A program of ours on this machine, once it serves; where."""
    command = (sys.executable, "-m", "quintant", "agent", *words, "--listen", "127.0.0.1")
    running = await asyncio.create_subprocess_exec(*command, "--port", "0", stderr=PIPE)
    assert running.stderr is not None
    try:
        async with patience.within(PATIENCE_SECONDS):
            url = urlsplit(json.loads(await running.stderr.readline())["url"])
        yield url.hostname or "", url.port or 0
    finally:
        running.terminate()
        await running.communicate()
    assert running.returncode == 0


async def test_a_device_can_be_tried_without_a_cluster(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config/instructions").write_text("instructions: {read_value: , get_status: }\n")
    file = tmp_path / "thermometer.yaml"
    async with program("mockdevice-thermometer") as (host, port):
        file.write_text(f"spec: {{protocol: HTTP, address: '{host}:{port}'}}\n")
        options = ("--device", str(file), "--config", str(tmp_path / "config"))
        async with program("deviceshifu", *options) as place, patience.within(PATIENCE_SECONDS):
            while (said := await fetch(*place, "/read_value"))[0] != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            assert 10 <= int(said[1]) <= 30
