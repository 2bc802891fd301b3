"""A program in a pod of the embedded node reaches the API server as its service account."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import patience
from node.node_fixture import PATIENCE_SECONDS, NodeCluster
from quintant.core.codec import to_plain
from quintant.core.object import Custom, Model, ObjectMeta
from quintant.core.resource import resource
from quintant.core.schema.crd import crd
from unit.cluster.api import Events

AGENT = Path(__file__).with_name("api_agent.py")
DEVICES = "/apis/demo.dev/v1/namespaces/default/devices"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"


class DeviceSpec(Model):
    lens: str = ""


class DeviceStatus(Model):
    seen: int = 0


@resource(group="demo.dev", version="v1", status=True)
class Device(Custom[DeviceSpec, DeviceStatus]):
    """Seen by a program in a pod."""


async def allow(node: NodeCluster, account: str) -> None:
    """Grant an account what docs/agents.md says, and nothing else."""
    one: dict[str, Any] = {"apiGroups": ["demo.dev"], "resourceNames": ["camera"]}
    rules = [
        {**one, "resources": ["devices"], "verbs": ["get", "watch"]},
        {**one, "resources": ["devices/status"], "verbs": ["patch"]},
    ]
    await node.api.create(f"{RBAC}/roles", {"metadata": {"name": "agent"}, "rules": rules})
    group = "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"name": "agent"},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": "agent"},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "default"}],
    }
    await node.api.create(f"{RBAC}/rolebindings", binding)


async def test_program_follows_its_object_and_tells_its_status(node: NodeCluster) -> None:
    await node.api.create(DEFINITIONS, crd(Device))
    await allow(node, "robot")
    volume, mount = await node.account("robot")
    container = {
        "name": "main",
        "image": "example/python",
        "args": [str(AGENT), "camera"],
        "volumeMounts": [mount],
    }
    await node.create("a", containers=[container], serviceAccountName="robot", volumes=[volume])
    camera = Device(metadata=ObjectMeta(name="camera"), spec=DeviceSpec(lens="wide"))
    async with patience.within(PATIENCE_SECONDS), node.api.watch(DEVICES) as events:
        await node.api.create(DEVICES, to_plain(camera))
        await until_seen(events, 1)
        await node.api.merge(f"{DEVICES}/camera", {"spec": {"lens": "long"}})
        await until_seen(events, 2)


async def until_seen(events: Events, generation: int) -> None:
    """Wait until the device's status answers a generation of it."""
    while (await events.next(math.inf))["object"].get("status") != {"seen": generation}:
        pass
