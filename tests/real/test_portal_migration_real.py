"""From portal-expose to ours on a real kube-apiserver: noticed, told, and done as the page says."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Annotated

import pytest
import pytest_asyncio
from msgspec import field
from structlog.testing import capture_logs

import patience
from envtest import RealCluster
from envtest.existing import kubectl
from quintant import Client, Custom, Environment, Manager, Model, resource
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.api.apps import Deployment, DeploymentSpec
from quintant.api.core import Namespace, Service, ServicePort, ServiceSpec
from quintant.api.meta import Condition, LabelSelector
from quintant.client.http.transport import HttpTransport
from quintant.core.errors import leaf_errors
from quintant.core.object import ObjectMeta, Opaque, replace
from quintant.core.owner import owned
from quintant.core.schema.markers import list_map
from quintant.operators.portal import controllers
from quintant.operators.portal.api import (
    DEFAULT_CLASS,
    FINALIZER,
    GROUP,
    VERSION,
    App,
    PortalExpose,
    RelayStatus,
    TunnelClass,
    TunnelClassSpec,
    TunnelPods,
)
from quintant.operators.portal.builders import labels
from quintant.operators.portal.options import Options
from quintant.runtime.manager.install_crds import install_crds
from testbeds.portal import exposing

pytestmark = pytest.mark.realtime

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "portal.md").read_text()
NAMESPACE = "moving"
DEFINITIONS = [f"{name}.{GROUP}" for name in ("portalexposes", "tunnelclasses")]
RUNNING = {"metadata": {"labels": labels("shop")}, "spec": {"containers": [
    {"name": "tunnel", "image": "portal-tunnel:1", "args": ["expose"]}]}}  # fmt: skip


class OriginalTarget(Model):
    name: str
    url: str


class OriginalTargets(Model):
    targets: tuple[OriginalTarget, ...]


class OriginalExposeSpec(Model):
    app: App
    relay: OriginalTargets
    tunnel_class_name: str = ""


class OriginalConnection(Model):
    name: str
    status: str
    connected_at: str | None = None
    last_error: str = ""


class OriginalRelays(Model):
    connected: tuple[OriginalConnection, ...] = ()


class OriginalExposeStatus(Model):
    phase: str | None = None
    public_url: str = field(default="", name="publicURL")
    tunnel_pods: TunnelPods | None = None
    relay: OriginalRelays | None = None
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(group=GROUP, version=VERSION, kind="PortalExpose", status=True)
class OriginalExpose(Custom[OriginalExposeSpec, OriginalExposeStatus]):
    """A PortalExpose as portal-expose defines it."""


@resource(
    group=GROUP, version=VERSION, kind="TunnelClass", plural="tunnelclasses", status=True
)  # fmt: skip
class OriginalClass(Custom[TunnelClassSpec, OriginalExposeStatus]):
    """A TunnelClass as portal-expose defines it: in a namespace."""


@pytest_asyncio.fixture
async def deployment(transport: HttpTransport, client: Client) -> AsyncIterator[Deployment]:
    """What portal-expose leaves: definitions, a class, a PortalExpose, and tunnels that run."""
    for name in DEFINITIONS:
        await remove_definition(client, name)
    await install_crds(transport, [OriginalExpose, OriginalClass])
    await client.apply(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
    meta = ObjectMeta(name="tunnels", namespace=NAMESPACE, annotations={DEFAULT_CLASS: "true"})
    spec = TunnelClassSpec(replicas=3, size="medium", node_selector={"zone": "a"})
    await client.create(OriginalClass(metadata=meta, spec=spec))
    web = ServiceSpec(ports=(ServicePort(port=8080),))
    await client.apply(Service(metadata=ObjectMeta(name="web", namespace=NAMESPACE), spec=web))
    expose = await client.create(_expose())
    selector = LabelSelector(match_labels=labels("shop"))
    running = DeploymentSpec(replicas=3, selector=selector, template=Opaque.of(RUNNING))
    meta = ObjectMeta(name="shop-tunnel", namespace=NAMESPACE, labels=labels("shop"))
    yield await client.create(owned(Deployment(metadata=meta, spec=running), by=expose))
    expose = await client.get(PortalExpose, "shop", NAMESPACE)
    await client.patch(
        replace(expose, metadata=replace(expose.metadata, finalizers=())), since=expose
    )
    await client.delete(expose)
    await client.delete(await client.get(Deployment, "shop-tunnel", NAMESPACE))
    for name in DEFINITIONS:
        await remove_definition(client, name)


async def remove_definition(client: Client, name: str) -> None:
    found = await client.find(CustomResourceDefinition, name)
    if found is not None:
        await client.delete(found)
        await client.wait_for(
            CustomResourceDefinition, name, until=lambda it: it is None, timeout=20
        )


def _expose() -> PortalExpose:
    given = exposing()
    meta = replace(given.metadata, namespace=NAMESPACE, finalizers=(FINALIZER,))
    return replace(given, metadata=meta)


def operator() -> Manager:
    manager = Manager("portal")
    controllers(manager, Options(enable_webhooks=False))
    manager.configure(metrics="", probes="")
    return manager


def page_commands() -> str:
    """What the page says is to be typed."""
    section = PAGE.partition("## Moving from portal-expose")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return dedent("   " + block.lstrip())


async def type_commands(script: str, kubeconfig: Path, folder: Path) -> str:
    (folder / "deploy").symlink_to(ROOT / "deploy")
    path = os.pathsep.join([str(Path(kubectl(os.environ)).parent), os.environ["PATH"]])
    env: Mapping[str, str] = {**os.environ, "PATH": path, "KUBECONFIG": str(kubeconfig)}
    shell = await asyncio.create_subprocess_exec(
        "bash", "-e", "-o", "pipefail", "-c", script, cwd=folder, env=env,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said = (await shell.communicate())[0].decode()
    assert shell.returncode == 0, said
    return said


async def test_definitions_of_the_original_are_told_and_moved_while_tunnels_go_on(
    real_cluster: RealCluster,
    transport: HttpTransport,
    client: Client,
    deployment: Deployment,
    tmp_path: Path,
) -> None:
    environment = Environment(transport, listen=True)
    with pytest.raises(BaseExceptionGroup) as refused:
        async with patience.within(20):
            await operator().serve(environment)
    (error,) = leaf_errors(refused.value)
    what, because, hint = str(error).splitlines()
    assert f"tunnelclasses.{GROUP}" in what
    assert "Namespaced, this version's is Cluster" in because
    assert "docs/upgrading.md" in hint

    await type_commands(page_commands(), real_cluster.kubeconfig, tmp_path)
    moved = await client.get(TunnelClass, "tunnels")
    assert moved.spec == TunnelClassSpec(replicas=3, size="medium", node_selector={"zone": "a"})
    assert moved.default
    running = await client.get(Deployment, "shop-tunnel", NAMESPACE)
    assert running == deployment, "nobody noticed"

    async with operator().running(environment):
        await client.wait_for(
            PortalExpose, "shop", NAMESPACE, timeout=patience.seconds(20),
            until=lambda it: it is not None and it.status is not None
            and it.status.observed_generation == 1 and it.status.tunnel_class_name == "tunnels",
        )  # fmt: skip
    taken = await client.get(Deployment, "shop-tunnel", NAMESPACE)
    assert taken.metadata.uid == deployment.metadata.uid
    assert not taken.deleting
    assert taken.spec.replicas == 3


async def test_a_status_is_written_although_the_definition_lacks_fields_of_it(
    transport: HttpTransport, client: Client, deployment: Deployment
) -> None:
    await remove_definition(client, f"tunnelclasses.{GROUP}")
    await install_crds(transport, [TunnelClass])
    spec = TunnelClassSpec(replicas=3, size="medium")
    meta = ObjectMeta(name="tunnels", annotations={DEFAULT_CLASS: "true"})
    await client.apply(TunnelClass(metadata=meta, spec=spec))
    with capture_logs() as said:
        async with operator().running(Environment(transport)):
            found = await client.wait_for(
                PortalExpose, "shop", NAMESPACE, timeout=patience.seconds(20),
                until=lambda it: it is not None and it.status is not None
                and it.status.phase is not None,
            )  # fmt: skip
    assert found is not None
    assert found.status is not None
    assert found.status.observed_generation is None
    assert isinstance(found.status.relay, RelayStatus)
    left_out = [
        field
        for each in said
        if each["event"] == "leaving out undeclared fields"
        for field in each["fields"]
    ]
    assert ".status.observedGeneration" in left_out
    assert len(set(left_out)) == len(left_out), "each is learnt once"
    assert ".status.relay.connected.readyTunnels" in left_out
