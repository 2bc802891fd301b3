"""The kinds as users of upstream know them (scenarios A)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from quintant.operators.shifu.api.device import EdgeDevice, UpstreamEdgeDevice
from quintant.operators.shifu.api.telemetry import TelemetryService
from testbeds.shifu import DEMO, DEVICES, ShifuTestbed, node_of, opened, reason_of

GROUP = "shifu.edgenesis.io/v1alpha1"


def manifest(name: str = "edgedevice-agv", **more: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": DEVICES}
    spec = {"sku": "AGV", "connection": "Ethernet", "protocol": "HTTP", "address": "agv:80"}
    return {"apiVersion": GROUP, "kind": "EdgeDevice", "metadata": meta, "spec": spec, **more}


async def raw(testbed: ShifuTestbed, name: str = "edgedevice-agv") -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(await testbed.client.raw("GET", testbed.path(name)))
    return found


async def test_a2_nulls_of_upstreams_samples_are_absent(testbed: ShifuTestbed) -> None:
    spec = {"protocol": "MQTT", "address": "x:1", "protocolSettings": {"MQTTSetting": None}}
    await testbed.client.raw(
        "POST", testbed.path("").rstrip("/"), body=msgspec.json.encode(manifest(spec=spec))
    )
    service = {
        "apiVersion": GROUP, "kind": "TelemetryService",
        "metadata": {"name": "t", "namespace": DEVICES},
        "spec": {"serviceSettings": {"HTTPSetting": {"username": None, "password": None}}},
    }  # fmt: skip
    path = f"/apis/{GROUP}/namespaces/{DEVICES}/telemetryservices"
    await testbed.client.raw("POST", path, body=msgspec.json.encode(service))

    assert (await raw(testbed))["spec"]["protocolSettings"] == {}
    stored = await testbed.client.get(TelemetryService, "t", DEVICES)
    assert stored.spec.service_settings is not None
    assert stored.spec.service_settings.http is not None
    assert stored.spec.service_settings.http.username == ""


async def test_a3_a_status_in_a_manifest_is_not_believed(testbed: ShifuTestbed) -> None:
    await testbed.apply(manifest(status={"edgedevicephase": "Running"}))
    assert "status" not in await raw(testbed) or (await raw(testbed))["status"][
        "edgedevicephase"
    ] in ("", "Pending")


async def test_a4_an_unknown_protocol_is_accepted_shown_and_not_served(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("n1")
    await testbed.device("messages", protocol="NATS")

    found = await testbed.said("messages", "ConfigValid", "UnsupportedProtocol")

    assert found.status is not None
    assert found.status.phase == "Pending"
    assert await testbed.deployments() == []
    assert testbed.topology is not None
    assert "[messages]\n" in testbed.topology.edgemap.text()


async def test_a5_without_a_status_subresource_phases_and_places_are_written_all_the_same() -> None:
    async with opened(replace(DEMO, crd_flavor="upstream"), agents=False) as testbed:
        await testbed.node("n1")
        await testbed.apply(manifest())
        found = await testbed.cluster.eventually(
            UpstreamEdgeDevice, "edgedevice-agv", DEVICES,
            until=lambda it: it.status is not None and _ready(it),
        )  # fmt: skip
        assert found.status is not None
        assert found.status.phase == "Pending"
        assert found.status.placement is not None
        assert found.status.placement.node_name == "n1"
        version = found.metadata.resource_version

        await testbed.cluster.advance(60)
        still = await testbed.client.get(UpstreamEdgeDevice, "edgedevice-agv", DEVICES)

        assert still.metadata.resource_version == version
        assert testbed.account is not None
        assert not testbed.account.denied()


async def test_a6_what_upstreams_agents_put_back_keeps_hints_in_annotations(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1", "n2", memory="8Gi")
    await testbed.device("edgedevice-agv", hints={"edge-node": "n2"})
    await testbed.placed("edgedevice-agv", "n2")
    whole = await raw(testbed)
    known = ("sku", "connection", "address", "protocol")
    whole["spec"] = {key: value for key, value in whole["spec"].items() if key in known}
    whole["status"] = {"edgedevicephase": "Running"}

    await testbed.client.raw("PUT", testbed.path("edgedevice-agv"), body=msgspec.json.encode(whole))
    await testbed.cluster.advance(10)

    assert node_of(await testbed.get("edgedevice-agv")) == "n2"
    assert await testbed.where() == {"edgedevice-agv": "n2"}


async def test_a7_kubectl_shows_sku_protocol_node_and_phase(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    await testbed.device("edgedevice-agv", sku="AGV")
    await testbed.placed("edgedevice-agv")
    await testbed.phase("edgedevice-agv", "Running")

    table = msgspec.json.decode(
        await testbed.client.raw(
            "GET", testbed.path("edgedevice-agv"),
            headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"},
        )
    )  # fmt: skip

    titles = [each["name"] for each in table["columnDefinitions"] if not each.get("priority")]
    assert titles == ["Name", "SKU", "Protocol", "Node", "Phase", "Age"]
    (row,) = table["rows"]
    cells = dict(
        zip((each["name"] for each in table["columnDefinitions"]), row["cells"], strict=True)
    )
    assert (cells["SKU"], cells["Node"], cells["Phase"]) == ("AGV", "n1", "Running")


async def test_the_agents_word_survives_everything_that_the_controller_says(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1", "n2")
    await testbed.device("camera", hints={"edge-node": "n1"})
    await testbed.placed("camera")
    reachable = {
        "type": "DeviceReachable", "status": "False", "reason": "Refused", "message": "no answer",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    await testbed.report(
        "camera", edgedevicephase="Failed", conditions=[reachable],
        telemetry={"lastError": "no answer"},
    )  # fmt: skip

    await testbed.hint("camera", edge_node="n2")
    found = await testbed.placed("camera", "n2")

    assert found.status is not None
    assert found.status.phase == "Failed"
    assert reason_of(found, "DeviceReachable") == "Refused"
    assert found.status.telemetry is not None
    assert found.status.telemetry.last_error == "no answer"


def _ready(device: EdgeDevice | UpstreamEdgeDevice) -> bool:
    found = device.status.conditions if device.status is not None else ()
    return any(each.type == "DeviceShifuReady" and each.status == "True" for each in found)
