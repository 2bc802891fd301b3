"""Portal Expose on a real kube-apiserver: what it fills in is no drift, and edits are undone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from quintant import Client, Environment
from quintant.api.apps import Deployment
from quintant.api.core import Namespace, Service, ServicePort, ServiceSpec
from quintant.client.http.transport import HttpTransport
from quintant.core.codec import to_plain
from quintant.core.object import ObjectMeta, replace
from quintant.operators.portal import controllers
from quintant.operators.portal.api import PortalExpose, TunnelClass, TunnelClassSpec
from quintant.operators.portal.options import Options
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.install_crds import install_crds
from quintant.runtime.manager.manager import Manager
from testbeds.portal import exposing

pytestmark = pytest.mark.realtime

NAMESPACE = "exposed"
PATH = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/shop-tunnel"
CALM_SECONDS = 2.0


@pytest_asyncio.fixture
async def engine(client: Client, transport: HttpTransport) -> AsyncIterator[Engine]:
    """The operator at work on a PortalExpose with everything it needs but nodes."""
    await install_crds(transport, [PortalExpose, TunnelClass])
    await client.apply(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
    manager = Manager("portal")
    controllers(manager, Options(enable_webhooks=False))
    async with manager.running(Environment(transport)) as engine:
        await client.apply(_service())
        await client.apply(_class())
        await client.apply(_expose())
        yield engine
        await client.delete(await client.get(PortalExpose, "shop", NAMESPACE))
        await client.wait_for(
            Deployment, "shop-tunnel", NAMESPACE, until=lambda it: not it or it.deleting, timeout=20
        )
        # There is no garbage collector here to say that the pods are gone.
        await _merge(client, {"metadata": {"finalizers": None}}, "merge")
        await client.wait_for(
            PortalExpose, "shop", NAMESPACE, until=lambda it: it is None, timeout=20
        )


def _service() -> Service:
    spec = ServiceSpec(ports=(ServicePort(port=8080),))
    return Service(metadata=ObjectMeta(name="web", namespace=NAMESPACE), spec=spec)


def _class() -> TunnelClass:
    spec = TunnelClassSpec(replicas=2, size="medium")
    return TunnelClass(metadata=ObjectMeta(name="tunnels"), spec=spec)


def _expose() -> PortalExpose:
    given = exposing(tunnel_class="tunnels")
    return replace(given, metadata=replace(given.metadata, namespace=NAMESPACE))


async def _merge(client: Client, change: dict[str, Any], kind: str) -> None:
    headers = {"Content-Type": f"application/{kind}-patch+json"}
    await client.raw("PATCH", PATH, body=msgspec.json.encode(change), headers=headers)


async def _settled(client: Client) -> Deployment:
    await client.wait_for(
        Deployment, "shop-tunnel", NAMESPACE, until=lambda it: it is not None, timeout=20
    )
    await asyncio.sleep(CALM_SECONDS)
    return await client.get(Deployment, "shop-tunnel", NAMESPACE)


async def test_nothing_is_written_at_rest(client: Client, engine: Engine) -> None:
    deployment = await _settled(client)
    before = await client.get(PortalExpose, "shop", NAMESPACE)
    assert before.status is not None
    assert before.status.phase == "Pending"
    for _ in range(5):
        engine.controllers[0].queue.add(before.key)
        await asyncio.sleep(0.1)
    after = await client.get(PortalExpose, "shop", NAMESPACE)
    assert after.metadata.resource_version == before.metadata.resource_version
    now = await client.get(Deployment, "shop-tunnel", NAMESPACE)
    assert now.metadata.resource_version == deployment.metadata.resource_version


EDITS: dict[str, dict[str, Any]] = {
    "replicas": {"replicas": 5},
    "arguments": {"template": {"spec": {"containers": [{"name": "tunnel", "args": ["x"]}]}}},
    "a node": {"template": {"spec": {"nodeSelector": {"zone": "b"}}}},
    "a sidecar": {"template": {"spec": {"containers": [{"name": "spy", "image": "spy"}]}}},
    "a variable": {
        "template": {
            "spec": {"containers": [{"name": "tunnel", "env": [{"name": "A", "value": "b"}]}]}
        }
    },
}


async def test_edits_are_undone(client: Client, engine: Engine) -> None:
    before = to_plain(await _settled(client))["spec"]
    for edit in EDITS.values():
        await _merge(client, {"spec": edit}, "strategic-merge")
        await client.wait_for(
            Deployment,
            "shop-tunnel",
            NAMESPACE,
            until=lambda it: it is not None and to_plain(it)["spec"] == before,
            timeout=20,
        )
