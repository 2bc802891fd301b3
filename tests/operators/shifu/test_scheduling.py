"""Where a device goes (scenarios B)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.device import DeviceShifuSpec
from quintant.operators.shifu.api.node import EdgeNode, EdgeNodeSpec
from testbeds.shifu import (
    GIB,
    SHIFUS,
    ShifuTestbed,
    condition_of,
    is_true,
    node_of,
    reason_of,
)

PARIS, BERLIN, SINGAPORE = "48.8566,2.3522", "52.52,13.405", "1.3521,103.8198"


async def test_b1_a_pin_wins_over_nearness_and_memory(testbed: ShifuTestbed) -> None:
    await testbed.node("n1", at=PARIS, memory="64Gi")
    await testbed.node("n2", at=SINGAPORE)
    await testbed.device("camera", hints={"edge-node": "n2", "location": PARIS})

    found = await testbed.placed("camera", "n2")

    assert found.status is not None
    assert found.status.placement is not None
    assert found.status.placement.kind == "Pinned"


async def test_b2_a_pin_to_an_unknown_node_waits_for_it(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    await testbed.device("camera", hints={"edge-node": "n2"})
    await testbed.said("camera", "Scheduled", "PinnedNodeNotFound")
    assert await testbed.deployments() == []

    await testbed.node("n2")

    await testbed.placed("camera", "n2", within=4)


async def test_b3_the_nearest_node_is_chosen_and_the_distance_told(testbed: ShifuTestbed) -> None:
    await testbed.node("berlin", at=BERLIN, memory="64Gi")
    await testbed.node("paris", at=PARIS)
    await testbed.node("singapore", at=SINGAPORE)
    await testbed.device("camera", hints={"location": "48.86,2.35"})

    found = await testbed.placed("camera", "paris")

    assert found.status is not None
    assert found.status.placement is not None
    assert found.status.placement.kind == "Proximity"
    assert 0 <= (found.status.placement.distance_meters or 0) <= 500


async def test_b4_the_antimeridian_is_no_wall(testbed: ShifuTestbed) -> None:
    await testbed.node("east", at="0,170")
    await testbed.node("west", at="0,-179.9")
    await testbed.device("buoy", hints={"location": "0,179.9"})

    found = await testbed.placed("buoy", "west")

    assert found.status is not None
    assert found.status.placement is not None
    assert 21_000 < (found.status.placement.distance_meters or 0) < 23_000


async def test_b6_and_b7_without_a_location_on_both_sides_memory_decides(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("small", memory="2Gi")
    await testbed.node("large", memory="8Gi")
    await testbed.device("plain")
    await testbed.device("located", hints={"location": PARIS})

    for name in ("plain", "located"):
        found = await testbed.placed(name, "large")
        assert reason_of(found, "Scheduled") == "Memory"


async def test_b8_the_one_node_with_a_location_wins_unless_it_is_full(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("located", memory="100Mi", at=SINGAPORE)
    await testbed.nodes("n1", "n2", memory="8Gi")
    for name in ("a", "b", "c"):
        await testbed.device(name, hints={"location": PARIS})

    nodes = [node_of(await testbed.placed(name)) for name in ("a", "b", "c")]

    assert Counter(nodes)["located"] == 2


async def test_b9_a_hundred_devices_of_one_second_are_spread(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1", "n2", "n3", memory="8Gi")
    testbed.used = {"n1": GIB, "n2": GIB, "n3": GIB}
    for number in range(100):
        await testbed.device(f"d{number:03}")
    for number in range(100):
        await testbed.placed(f"d{number:03}", within=120)

    spread = Counter((await testbed.where()).values())

    assert sum(spread.values()) == 100
    assert all(32 <= count <= 36 for count in spread.values())


@pytest.mark.parametrize("location", ["abc", "91,0"])
async def test_b10_a_bad_location_is_told_and_memory_decides(
    testbed: ShifuTestbed, location: str
) -> None:
    await testbed.node("n1", at=PARIS)
    await testbed.device("camera", hints={"location": location})

    found = await testbed.placed("camera", "n1")

    assert reason_of(found, "ConfigValid") == "BadLocation"
    assert reason_of(found, "Scheduled") == "Memory"
    assert "BadLocation" in await testbed.reasons()


async def test_b11_full_nodes_are_counted_and_room_is_taken_when_it_comes(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1", "n2", memory="90Mi")
    first = [await testbed.device(f"d{number}") for number in range(4)]
    for device in first:
        await testbed.placed(device.metadata.name)
    await testbed.device("late")
    found = await testbed.said("late", "Scheduled", "NoFeasibleNode")
    assert condition_of(found, "Scheduled").message == "0/2 edge nodes: 2 InsufficientMemory"

    await testbed.client.delete(first[0])

    await testbed.placed("late", within=10)


@pytest.mark.parametrize("amount", [2 * GIB, "2Gi"])
async def test_memory_may_be_asked_for_as_a_number_or_as_a_text(
    testbed: ShifuTestbed, amount: int | str
) -> None:
    await testbed.node("small", memory="1Gi")
    await testbed.device("camera")
    await testbed.placed("camera", "small")
    await testbed.node("large", memory="8Gi")
    await testbed.merge(testbed.path("camera"), {"spec": {"placement": {"memoryRequest": amount}}})
    await testbed.placed("camera", "large", within=60)


async def test_b12_a_device_without_an_address_is_composed_when_it_has_one(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("n1")
    await testbed.device("camera", address="")
    await testbed.said("camera", "ConfigValid", "NoAddress")
    assert await testbed.deployments() == []

    await testbed.merge(testbed.path("camera"), {"spec": {"address": "10.0.0.9:80"}})

    await testbed.placed("camera", "n1")


async def test_b13_a_program_of_the_users_own_serves_any_protocol_without_an_address(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("n1")
    own = DeviceShifuSpec(image="example.dev/lwm2m:1")
    await testbed.device("meter", protocol="LwM2M", address="", device_shifu=own)

    await testbed.placed("meter", "n1")

    (made,) = await testbed.deployments()
    (container,) = made.spec.template.value["spec"]["containers"]
    assert container["image"] == "example.dev/lwm2m:1"
    assert "command" not in container


@pytest.mark.parametrize(
    "spec",
    [{"address": "/dev/ttyUSB0"}, {"connection": "Serial"}, {"connection": "I2C"}],
)
async def test_b14_what_is_plugged_into_a_node_needs_to_name_it(
    testbed: ShifuTestbed, spec: dict[str, Any]
) -> None:
    await testbed.node("n1")
    await testbed.device("sensor", **spec)
    await testbed.said("sensor", "Scheduled", "NodeLocalDeviceWithoutNode")
    assert await testbed.deployments() == []

    await testbed.hint("sensor", edge_node="n1")

    await testbed.placed("sensor", "n1")


async def test_b15_without_figures_of_nodes_scheduling_goes_on(testbed: ShifuTestbed) -> None:
    await testbed.node("n1", memory="8Gi")
    testbed.used = {"n1": GIB}
    fresh = await testbed.cluster.eventually(
        EdgeNode, "n1", "", until=lambda it: _fresh(it) == "True", within=5
    )
    assert fresh.status is not None
    assert fresh.status.free is not None
    assert fresh.status.free.raw_memory_bytes == 7 * GIB

    testbed.used = {}

    await testbed.cluster.eventually(
        EdgeNode, "n1", "", until=lambda it: _fresh(it) == "False", within=6
    )
    await testbed.device("camera")
    await testbed.placed("camera", "n1")


async def test_b16_a_tainted_node_is_never_chosen(testbed: ShifuTestbed) -> None:
    taint = {"key": "plant", "effect": "NoSchedule", "value": "off"}
    await testbed.node("tainted", memory="64Gi", spec={"taints": [taint]})
    await testbed.device("camera")
    found = await testbed.said("camera", "Scheduled", "NoFeasibleNode")
    assert condition_of(found, "Scheduled").message == "0/1 edge nodes: 1 Tainted"

    await testbed.node("plain")

    await testbed.placed("camera", "plain")


async def test_a_selector_leaves_only_nodes_with_these_labels(testbed: ShifuTestbed) -> None:
    await testbed.node("large", memory="64Gi")
    await testbed.node("small", memory="1Gi", labels={"site": "hall-2", "tier": "edge"})
    await testbed.device("camera", hints={"node-selector": "site=hall-2, tier=edge"})
    await testbed.device("nowhere", hints={"node-selector": "site=hall-9"})

    await testbed.placed("camera", "small")
    found = await testbed.said("nowhere", "Scheduled", "NoFeasibleNode")
    assert condition_of(found, "Scheduled").message == "0/2 edge nodes: 2 SelectorMismatch"


async def test_a_zone_is_a_coarse_location(testbed: ShifuTestbed) -> None:
    zone, region = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
    await testbed.node("far", memory="64Gi", labels={zone: "z9", region: "r9"})
    await testbed.node("near", memory="1Gi", labels={zone: "z1", region: "r1"})
    await testbed.device("inside", hints={"zone": "z1"})
    await testbed.device("around", hints={"zone": "z2", "region": "r1"})

    await testbed.placed("inside", "near")
    await testbed.placed("around", "near")


async def test_a_preferred_pin_falls_back_to_other_nodes(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1", "n2")
    await testbed.merge("/api/v1/nodes/n1", {"spec": {"unschedulable": True}})
    await testbed.cluster.advance(1)
    await testbed.device("camera", hints={"edge-node": "n1", "pin-policy": "preferred"})

    await testbed.placed("camera", "n2")


async def test_an_edge_node_says_what_it_takes(testbed: ShifuTestbed) -> None:
    spec = EdgeNodeSpec(accept_protocols=("MQTT",), max_device_shifus=1)
    await testbed.client.create(EdgeNode(metadata=ObjectMeta(name="n1"), spec=spec))
    await testbed.node("n1")
    await testbed.device("web")
    found = await testbed.said("web", "Scheduled", "NoFeasibleNode")
    assert "1 ProtocolNotAccepted" in condition_of(found, "Scheduled").message
    await testbed.device("one", protocol="MQTT")
    await testbed.placed("one", "n1")
    await testbed.device("two", protocol="MQTT")

    found = await testbed.said("two", "Scheduled", "NoFeasibleNode")

    assert "1 MaxDeviceShifus" in condition_of(found, "Scheduled").message


async def test_everything_is_in_the_namespace_of_device_shifus(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    await testbed.device("camera")
    found = await testbed.placed("camera")
    assert is_true(found, "ConfigValid")
    assert found.status is not None
    assert found.status.device_shifu is not None
    assert found.status.device_shifu.url == f"http://deviceshifu-camera.{SHIFUS}.svc.cluster.local"


def _fresh(node: object) -> str:
    status = getattr(node, "status", None)
    found = {each.type: each.status for each in status.conditions} if status else {}
    return str(found.get("MetricsFresh", ""))
