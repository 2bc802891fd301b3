"""edgeMap, as it is shown (scenarios D)."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import msgspec

from quintant.core.object import Request
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.report.document import explanation, whole_map
from quintant.operators.shifu.report.stream import ChangeHistory, edge_events
from testbeds.shifu import GIB, ShifuTestbed, reason_of

EXAMPLE = """\
[edgenode1] --> [camera1] --> [camera2]
[camera1] --> [edgenode1]
[camera2] --> [edgenode1]
"""


async def seeded(testbed: ShifuTestbed) -> None:
    """The example of the design: one node, two cameras."""
    await testbed.node("edgenode1")
    for name in ("camera1", "camera2"):
        await testbed.device(name)
        await testbed.placed(name)


def text(testbed: ShifuTestbed) -> str:
    assert testbed.topology is not None
    return testbed.topology.edgemap.text()


async def test_d1_the_example_of_the_design(testbed: ShifuTestbed) -> None:
    await seeded(testbed)

    assert text(testbed) == EXAMPLE


async def test_d2_a_deleted_device_leaves_two_lines(testbed: ShifuTestbed) -> None:
    await seeded(testbed)

    await testbed.client.delete(await testbed.get("camera1"))
    await testbed.cluster.advance(2)

    assert text(testbed) == "[edgenode1] --> [camera2]\n[camera2] --> [edgenode1]\n"
    assert (await testbed.children())["Deployment"] == ["deviceshifu-camera2"]


async def test_d3_a_deleted_node_leaves_devices_alone(testbed: ShifuTestbed) -> None:
    await seeded(testbed)

    await testbed.delete_node("edgenode1")
    found = await testbed.phase("camera1", "Unknown")
    await testbed.phase("camera2", "Unknown")

    assert text(testbed) == "[camera1]\n[camera2]\n"
    assert reason_of(found, "Scheduled") == "NoFeasibleNode"


async def test_d4_a_restart_prints_the_same(testbed: ShifuTestbed) -> None:
    await seeded(testbed)
    await testbed.nodes("edgenode0", "edgenode2")
    for name in ("b", "a", "c"):
        await testbed.device(name)
        await testbed.placed(name)
    before = text(testbed)

    await testbed.stop()
    await testbed.start()
    await testbed.cluster.advance(2)

    assert text(testbed) == before


async def test_d6_a_client_hears_of_each_change_once_in_order(testbed: ShifuTestbed) -> None:
    await testbed.node("edgenode1")
    await testbed.cluster.advance(2)
    topology = testbed.topology
    assert topology is not None
    history = ChangeHistory(topology.edgemap)
    async with aclosing(edge_events(topology, history, None)) as stream:
        first = parsed(await anext(stream))
        assert first["event"] == "map"
        seen = first["data"]["version"]
        await testbed.device("camera1")
        await testbed.placed("camera1")
        await testbed.client.delete(await testbed.get("camera1"))
        await testbed.cluster.advance(3)

        heard: list[dict[str, Any]] = []
        while not heard or "deleted" not in heard[-1]["data"]:
            heard.append(parsed(await anext(stream)))

    versions = [each["id"] for each in heard]
    assert versions == list(range(seen + 1, seen + 1 + len(versions)))
    assert heard[-1]["data"]["deleted"] == "device/devices/camera1"
    async with aclosing(edge_events(topology, history, versions[1])) as again:
        assert parsed(await anext(again))["id"] == versions[2]


async def test_a_new_node_is_an_isolated_line(testbed: ShifuTestbed) -> None:
    await testbed.node("n9")
    await testbed.cluster.advance(1)

    assert text(testbed) == "[n9]\n"


async def test_memory_and_cpu_of_a_node_are_shown_within_two_periods(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("n1", memory="8Gi")
    testbed.used = {"n1": GIB}
    await testbed.cluster.advance(2.5)
    testbed.used = {"n1": 5 * GIB}

    await testbed.cluster.eventually(
        EdgeNode, "n1", "", within=2.5,
        until=lambda it: it.status is not None and it.status.free is not None
        and it.status.free.raw_memory_bytes == 3 * GIB,
    )  # fmt: skip

    assert testbed.topology is not None
    (vertex,) = whole_map(testbed.topology)["vertices"]
    assert vertex["usedMemory"] == 5 * GIB
    assert vertex["usedCpuMillis"] == 250
    assert vertex["phase"] == "Ready"


async def test_explain_says_why_a_device_is_where_it_is(testbed: ShifuTestbed) -> None:
    await testbed.node("near", at="0,0", memory="1Gi")
    await testbed.node("far", at="10,10", memory="8Gi")
    await testbed.node("out", spec={"unschedulable": True})
    await testbed.device("camera1", hints={"location": "0.01,0"})
    await testbed.placed("camera1", "near")

    assert testbed.topology is not None
    found = explanation(testbed.topology, Request("camera1", "devices"))

    assert found is not None
    assert (found["node"], found["kind"]) == ("near", "Proximity")
    by_node = {each["node"]: each for each in found["candidates"]}
    assert by_node["near"]["distanceMeters"] == 1112
    assert by_node["far"]["feasible"]
    assert by_node["out"]["refusal"] == "Cordoned"
    assert explanation(testbed.topology, Request("nobody", "devices")) is None


def parsed(event: bytes) -> dict[str, Any]:
    fields = dict(line.split(": ", 1) for line in event.decode().strip().splitlines())
    return {
        "event": fields["event"],
        "id": int(fields["id"]),
        "data": msgspec.json.decode(fields["data"]),
    }
