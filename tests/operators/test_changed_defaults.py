"""A new version of an operator with another default: its preview shows that, and no more."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import AsyncGenerator

import msgspec
from msgspec.structs import replace

from explore import cosmos, infra, portal, shifu
from quintant import Manager
from quintant.api.apps import Deployment
from quintant.api.metrics import NodeMetrics
from quintant.api.pod import Pod
from quintant.cluster.volumes.crds import first_objects
from quintant.core import codec
from quintant.core.object import ObjectMeta
from quintant.core.yaml.dump import to_yaml
from quintant.operators.cosmos import controllers as cosmos_controllers
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.options import Options as CosmosOptions
from quintant.operators.infra import controllers as infra_controllers
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.options import Options as InfraOptions
from quintant.operators.infra.remote import Remote
from quintant.operators.klight import controllers as klight_controllers
from quintant.operators.klight.options import Options as KlightOptions
from quintant.operators.portal import controllers as portal_controllers
from quintant.operators.portal.options import Options as PortalOptions
from quintant.operators.shifu import controllers as shifu_controllers
from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceSpec
from quintant.operators.shifu.options import Options as ShifuOptions
from quintant.preview.object_diffs import ObjectAction, ObjectDiff
from quintant.preview.run import PreviewLimits, preview
from quintant.runtime.cache.client import Client
from quintant.testing import InProcessCluster
from quintant.testing.simulate.remotes.peers import ModelledPeers
from testbeds.cosmos import full_node
from testbeds.infra import OPTIONS as INFRA_OPTIONS
from testbeds.infra import InfraTestbed, template
from testbeds.klight import KlightTestbed
from testbeds.portal import exposing

NEW = "example.com/quintant:2"
SOON = PreviewLimits(seconds=30.0)


def changed_lines(change: ObjectDiff) -> list[str]:
    """What is otherwise in an object, line by line."""
    before, after = (to_yaml([obj]).splitlines() for obj in (change.before, change.after))
    return [
        line[1:].strip()
        for line in difflib.unified_diff(before, after, lineterm="", n=0)
        if line[0] in "+-" and line[:3] not in ("+++", "---")
    ]


async def no_lines(address: str) -> AsyncGenerator[bytes, None]:
    """Tunnels that nobody listens to."""
    await asyncio.get_running_loop().create_future()
    yield b""


def portal_manager(options: PortalOptions) -> Manager:
    manager = Manager("portal")
    portal_controllers(manager, options, no_lines)
    return manager


def cosmos_manager(options: CosmosOptions) -> Manager:
    manager = Manager("cosmos-operator")
    cosmos_controllers(manager, options, cosmos.QuietNodes())
    return manager


async def test_another_image_of_tunnels_is_all_that_portal_would_change(
    cluster: InProcessCluster,
) -> None:
    engine = await cluster.run(portal_manager(PortalOptions(relay_status_source="assume")))
    await cluster.create(portal.service())
    await cluster.create(portal.tunnel_class("small", default=True))
    await cluster.create(exposing())
    await cluster.eventually(Deployment, "shop-tunnel")
    await cluster.advance(30)
    await cluster.stop(engine)
    new = PortalOptions(relay_status_source="assume", tunnel_image=NEW)
    found = await preview(portal_manager(new), cluster.environment(), SOON)
    assert [(each.action, each.id.plural) for each in found.changes] == [
        (ObjectAction.UPDATE, "deployments")
    ]
    lines = changed_lines(found.changes[0])
    assert [line for line in lines if "spec-hash" not in line] == [
        f"image: {PortalOptions().tunnel_image}", f"image: {NEW}"
    ]  # fmt: skip
    assert found.findings == []


def shifu_manager(options: ShifuOptions) -> Manager:
    manager = Manager("shifu")
    shifu_controllers(manager, options, no_figures)
    return manager


async def no_figures(_: Client) -> list[NodeMetrics]:
    return []


async def test_another_image_of_agents_is_all_that_shifu_would_change(
    cluster: InProcessCluster,
) -> None:
    life = shifu.DeviceLife()
    await life.prepare(cluster)
    engine = await cluster.run(shifu_manager(shifu.OPTIONS))
    meta = ObjectMeta(name="camera", namespace="devices")
    spec = EdgeDeviceSpec(protocol="HTTP", address="a:1")
    await cluster.create(EdgeDevice(metadata=meta, spec=spec))
    await cluster.advance(60)
    await cluster.stop(engine)
    same = await preview(shifu_manager(shifu.OPTIONS), cluster.environment(), SOON)
    assert same.changes == []
    new = replace(shifu.OPTIONS, agent_image=NEW)
    found = await preview(shifu_manager(new), cluster.environment(), SOON)
    assert [(each.action, each.id.plural) for each in found.changes] == [
        (ObjectAction.UPDATE, "deployments")
    ]
    lines = changed_lines(found.changes[0])
    assert [line for line in lines if line.startswith("image:")] == [
        f"image: {ShifuOptions().agent_image}", f"image: {NEW}"
    ]  # fmt: skip
    assert found.findings == []


async def test_another_image_of_tools_has_cosmos_make_its_pods_anew(
    cluster: InProcessCluster,
) -> None:
    for each in first_objects():
        await cluster.client.apply(each)
    engine = await cluster.run(cosmos_manager(CosmosOptions()))
    inside = {"maxP2PExternalAddresses": 0}
    plain = full_node(metadata={"namespace": "default"}, service=inside, replicas=1)
    await cluster.create(codec.decode(CosmosFullNode, msgspec.json.encode(plain)))
    await cluster.eventually(Pod, "hub-0")
    await cluster.advance(30)
    await cluster.stop(engine)
    same = await preview(cosmos_manager(CosmosOptions()), cluster.environment(), SOON)
    assert same.changes == []
    assert same.findings == []
    new = CosmosOptions(tool_image=NEW)
    found = await preview(cosmos_manager(new), cluster.environment(), SOON)
    # Nothing collects what is deleted on the copy: that the pod has to go is what is seen.
    assert [(each.action, each.id.plural, each.id.name) for each in found.changes] == [
        (ObjectAction.DELETE, "pods", "hub-0"),
        (ObjectAction.UPDATE, "cosmosfullnodes", "hub"),
    ]
    assert found.findings == []


def klight_manager(options: KlightOptions, peers: ModelledPeers) -> Manager:
    manager = Manager("klight")
    klight_controllers(manager, options, peers)
    return manager


async def test_another_label_has_peers_leave_which_klight_does_not_do_in_a_preview(
    cluster: InProcessCluster,
) -> None:
    bed = KlightTestbed(cluster)
    engine = await bed.start()
    await bed.add("p1", "p2")
    await cluster.advance(30)
    await cluster.stop(engine)
    same = await preview(klight_manager(KlightOptions(), bed.peers), cluster.environment(), SOON)
    assert (same.changes, same.calls, same.findings) == ([], [], [])
    new = KlightOptions(label="example.com/network")
    found = await preview(klight_manager(new, bed.peers), cluster.environment(), SOON)
    assert found.changes == []
    assert found.calls == ["peers: have 10.0.0.3:9081 leave its network, for default/a"]
    assert found.findings == []
    assert [len(each.view) for each in bed.peers.models.values()] == [2, 2]


def infra_manager(options: InfraOptions, remote: Remote) -> Manager:
    manager = Manager("infra")
    infra_controllers(manager, options, remote)
    return manager


async def test_dummy_clouds_are_all_that_another_default_of_infra_would_change(
    cluster: InProcessCluster,
) -> None:
    bed, strict = InfraTestbed(cluster), replace(INFRA_OPTIONS, dummy_clouds=False)
    await infra.Create().prepare(cluster)
    engine = await cluster.run(infra_manager(strict, bed.remote()))
    await cluster.advance(120)
    await cluster.stop(engine)
    same = await preview(infra_manager(strict, bed.remote()), cluster.environment(), SOON)
    assert (same.changes, same.calls, same.findings) == ([], [], [])
    found = await preview(infra_manager(INFRA_OPTIONS, bed.remote()), cluster.environment(), SOON)
    assert [(each.action, each.id.plural, each.id.name) for each in found.changes] == [
        (ObjectAction.UPDATE, "clouds", "here")
    ]
    lines = changed_lines(found.changes[0])
    assert {line for line in lines if line.startswith("reason:")} == {
        "reason: DummyCloudsDisabled", "reason: Accepted", "reason: Ready",
    }  # fmt: skip
    assert (found.calls, found.findings) == ([], [])


async def test_what_infra_would_have_a_provider_do_is_shown_and_not_done(
    cluster: InProcessCluster,
) -> None:
    bed = InfraTestbed(cluster)
    await infra.Create().prepare(cluster)
    engine = await cluster.run(infra_manager(INFRA_OPTIONS, bed.remote()))
    made = await cluster.create(infra.made(Cluster, "one", {"tosca": template()}))
    await cluster.advance(900)
    await cluster.stop(engine)
    (id,) = bed.model.infrastructures
    same = await preview(infra_manager(INFRA_OPTIONS, bed.remote()), cluster.environment(), SOON)
    assert (same.changes, same.calls, same.findings) == ([], [], [])
    await cluster.client.delete(made)
    await cluster.create(infra.made(Cluster, "two", {"tosca": template()}))
    found = await preview(infra_manager(INFRA_OPTIONS, bed.remote()), cluster.environment(), SOON)
    assert found.calls == [
        f"im:8800: delete infrastructure {id}, for default/one",
        "im:8800: try a template, for default/two",
    ]
    assert found.findings == []
    assert list(bed.model.infrastructures) == [id]
