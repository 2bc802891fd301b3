"""EdgeNodes: mirrored, written by users, and what is said of them."""

from __future__ import annotations

from msgspec.structs import replace

from quintant.api.core import Node
from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.node import EdgeNode, EdgeNodeSpec, NodeLocation
from testbeds.shifu import DEMO, ShifuTestbed, opened

MIRRORED = "shifu.edgenesis.io/mirrored"


async def test_every_node_is_mirrored_and_its_edge_node_goes_with_it(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("n1", at="48.8,2.3")
    found = await testbed.cluster.eventually(
        EdgeNode, "n1", "", until=lambda it: it.status is not None and it.status.phase == "Ready"
    )
    assert found.metadata.labels[MIRRORED] == "true"
    assert [each.kind for each in found.metadata.owner_references] == ["Node"]
    assert found.status is not None
    assert found.status.location is not None
    assert (found.status.location.latitude, found.status.location.longitude) == (48.8, 2.3)

    await testbed.delete_node("n1")

    await testbed.cluster.wait_deleted(EdgeNode, "n1", "", within=3)


async def test_what_a_user_wrote_is_left_alone(testbed: ShifuTestbed) -> None:
    spec = EdgeNodeSpec(location=NodeLocation(latitude=1.0, longitude=2.0, site="hall"))
    await testbed.client.create(EdgeNode(metadata=ObjectMeta(name="n1"), spec=spec))
    await testbed.node("n1", at="48.8,2.3")
    found = await testbed.cluster.eventually(
        EdgeNode, "n1", "", until=lambda it: it.status is not None and it.status.phase == "Ready"
    )
    assert found.spec == spec
    assert found.status is not None
    assert found.status.location == replace(spec.location, zone="", region="")  # type: ignore[type-var]

    await testbed.delete_node("n1")
    await testbed.cluster.advance(5)

    left = await testbed.client.get(EdgeNode, "n1")
    assert left.status is not None
    assert left.status.phase == "Lost"


async def test_control_planes_and_those_that_say_so_are_no_edge_nodes(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("master", labels={"node-role.kubernetes.io/control-plane": ""})
    await testbed.cluster.eventually(EdgeNode, "master", "")  # as long as it is the only one
    await testbed.node("n1")
    await testbed.node("n2", labels={"shifu.edgenesis.io/edgenode": "false"})
    await testbed.cluster.advance(3)

    assert testbed.topology is not None
    assert testbed.topology.edgemap.nodes() == ["n1"]

    path = "/api/v1/nodes/n2"
    await testbed.merge(path, {"metadata": {"labels": {"shifu.edgenesis.io/edgenode": None}}})
    await testbed.cluster.eventually(EdgeNode, "n2", "", within=3)
    await testbed.merge(path, {"metadata": {"labels": {"shifu.edgenesis.io/edgenode": "false"}}})
    await testbed.cluster.wait_deleted(EdgeNode, "n2", "", within=3)


async def test_devices_of_a_node_are_counted_and_listed(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    for name in ("a", "b"):
        await testbed.device(name)
        await testbed.placed(name)

    found = await testbed.cluster.eventually(
        EdgeNode, "n1", "", within=5,
        until=lambda it: it.status is not None and it.status.device_shifus is not None
        and it.status.device_shifus.running == 2,
    )  # fmt: skip

    assert found.status is not None
    assert found.status.devices == ("devices/a", "devices/b")


async def test_a_lost_node_says_so(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1", "n2")
    await testbed.fault("n1", "not-ready")

    await testbed.cluster.eventually(
        EdgeNode, "n1", "", within=8,
        until=lambda it: it.status is not None and it.status.phase == "Lost",
    )  # fmt: skip


async def test_without_the_mirror_nodes_are_edge_nodes_all_the_same() -> None:
    async with opened(replace(DEMO, edgenode_mirror=False)) as testbed:
        await testbed.node("n1")
        await testbed.device("camera")
        await testbed.placed("camera", "n1")

        assert await testbed.client.list(EdgeNode) == []
        assert await testbed.client.find(Node, "n1") is not None
        assert testbed.account is not None
        assert not [held for held in testbed.account.permissions if held.verb == "create"
                    and held.resource == "edgenodes"]  # fmt: skip
