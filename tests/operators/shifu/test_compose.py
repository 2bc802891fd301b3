"""Compose and yield: what a device becomes, and what is left to the user (scenarios C)."""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Namespace, Service, ServicePort, ServiceSpec
from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.device import DeviceInstruction, DeviceShifuSpec
from quintant.operators.shifu.api.settings import ProtocolSettings, TCPSetting
from testbeds.shifu import SHIFUS, ShifuTestbed, condition_of, opened
from testbeds.shifu_manifests import users_deployment, users_service


async def test_c1_a_device_gets_a_deployment_that_runs_on_one_node(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1")
    await testbed.device("edgedevice-thermometer")

    await testbed.placed("edgedevice-thermometer", "n1")

    (made,) = await testbed.deployments()
    assert made.metadata.name == "deviceshifu-thermometer"
    assert made.spec.strategy.type == "Recreate"
    terms = made.spec.template.value["spec"]["affinity"]["nodeAffinity"]
    (term,) = terms["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term == {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    assert await testbed.where() == {"edgedevice-thermometer": "n1"}
    await testbed.phase("edgedevice-thermometer", "Running")
    assert await testbed.children() == {
        "Deployment": ["deviceshifu-thermometer"],
        "Service": ["deviceshifu-thermometer"],
        "ConfigMap": ["deviceshifu-thermometer-config"],
    }


async def test_c2_a_directory_with_the_users_own_deployment_is_left_to_him(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1", "n2")
    await testbed.device("edgedevice-agv")
    await testbed.apply(users_deployment("agv"))

    await testbed.cluster.advance(10)

    assert [each.metadata.name for each in await testbed.deployments()] == [
        "deviceshifu-agv-deployment"
    ]
    (pod,) = await testbed.pods()
    found = await testbed.get("edgedevice-agv")
    assert found.status is not None
    assert found.status.placement is not None
    assert found.status.placement.kind == "Adopted"
    assert found.status.placement.node_name == pod.spec.node_name
    assert testbed.topology is not None
    link = testbed.topology.edgemap.link(found.key)
    assert link is not None
    assert (link.node, link.kind) == (pod.spec.node_name, "adopted")


async def test_c3_when_the_users_deployment_goes_ours_comes(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    await testbed.apply(users_deployment("agv"))
    await testbed.device("edgedevice-agv")
    await testbed.said("edgedevice-agv", "Scheduled", "Adopted")

    theirs = await testbed.client.get(Deployment, "deviceshifu-agv-deployment", SHIFUS)
    await testbed.client.delete(theirs)

    await testbed.cluster.eventually(Deployment, "deviceshifu-agv", SHIFUS, within=10)
    await testbed.placed("edgedevice-agv", "n1")


async def test_ours_goes_when_the_user_brings_his_own(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    await testbed.device("edgedevice-agv")
    await testbed.placed("edgedevice-agv")

    await testbed.apply(users_deployment("agv"), users_service("agv"))

    await testbed.cluster.wait_deleted(Deployment, "deviceshifu-agv", SHIFUS, within=5)
    await testbed.cluster.advance(5)
    service = await testbed.client.get(Service, "deviceshifu-agv", SHIFUS)
    assert service.spec.selector["app"] == "deviceshifu-agv-deployment"
    assert (await testbed.children())["Service"] == []
    assert "DeviceShifuSuperseded" in await testbed.reasons()


async def test_c4_another_configmap_is_mounted_without_a_new_pod(testbed: ShifuTestbed) -> None:
    """The agent reads it anew by itself; only a program of the user's own is started anew."""
    await testbed.node("n1")
    await testbed.apply(config_map("agv-configmap-0.0.1", "read: null"))
    await testbed.device("edgedevice-agv")
    await testbed.placed("edgedevice-agv")
    (before,) = await testbed.pods()

    await testbed.apply(config_map("agv-configmap-0.0.1", "write: null"))
    await testbed.cluster.advance(5)

    (after,) = await testbed.pods()
    assert after.metadata.uid == before.metadata.uid
    (volume,) = [each for each in after.spec.volumes if each.name == "deviceshifu-config"]
    assert volume.config_map is not None
    assert volume.config_map.name == "agv-configmap-0.0.1"
    assert (await testbed.children())["ConfigMap"] == []


async def test_c4_a_driver_of_the_users_own_is_started_anew_once(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    driver = {"driverProperties": "driverImage: example.dev/plc:1"}
    await testbed.apply(config_map("plc-configmap", "read: null", **driver))
    await testbed.device(
        "edgedevice-plc", address="0.0.0.0:11111", custom_metadata={"env.PLC_RACK": "0"}
    )
    await testbed.placed("edgedevice-plc")
    (before,) = await testbed.pods()
    assert [each.image for each in before.spec.containers][1:] == ["example.dev/plc:1"]
    assert before.spec.containers[1].env[0].name == "PLC_RACK"

    await testbed.apply(config_map("plc-configmap", "write: null", **driver))
    await testbed.cluster.advance(20)

    (after,) = await testbed.pods()
    assert after.metadata.uid != before.metadata.uid
    await testbed.cluster.advance(60)
    (last,) = await testbed.pods()
    assert last.metadata.uid == after.metadata.uid


async def test_c5_two_devices_of_one_name_in_two_namespaces_have_two_deployments(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("n1")
    await testbed.client.create(Namespace(metadata=ObjectMeta(name="annex")))
    await testbed.device("camera")
    await testbed.device("camera", namespace="annex")

    await testbed.placed("camera")
    await testbed.cluster.advance(5)

    names = (await testbed.children())["Deployment"]
    assert len(names) == 2
    assert "deviceshifu-camera" in names
    assert len(await testbed.pods()) == 2


async def test_c6_a_long_name_makes_legal_objects(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    long, dotted = "edgedevice-" + "x" * 189, "camera.hall.two"
    await testbed.device(long)
    await testbed.device(dotted)

    await testbed.placed(long)
    await testbed.placed(dotted)

    children = await testbed.children()
    assert all(len(name) <= 63 for names in children.values() for name in names)
    assert all(len(names) == 2 for names in children.values())


async def test_c7_what_somebody_changes_is_restored(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1", "n2")
    await testbed.device("camera", hints={"edge-node": "n1"})
    await testbed.placed("camera", "n1")
    path = f"/apis/apps/v1/namespaces/{SHIFUS}/deployments/deviceshifu-camera"
    field = {"key": "metadata.name", "operator": "In", "values": ["n2"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    await testbed.merge(path, {"spec": {"template": {"spec": {"affinity": affinity}}}})

    await testbed.cluster.advance(2)
    (made,) = await testbed.deployments()
    assert "n1" in made.spec.template.raw.decode()
    assert "n2" not in made.spec.template.raw.decode()

    await testbed.merge(path, {"spec": {"replicas": 0}})
    await testbed.cluster.eventually(
        Deployment, "deviceshifu-camera", SHIFUS, until=lambda it: it.spec.replicas == 1, within=2
    )
    await testbed.client.delete(await testbed.client.get(Service, "deviceshifu-camera", SHIFUS))
    await testbed.cluster.eventually(Service, "deviceshifu-camera", SHIFUS, within=2)


async def test_c8_an_unmanaged_device_is_only_shown(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    await testbed.device("camera", hints={"deviceshifu": "unmanaged"})

    await testbed.said("camera", "Scheduled", "Unmanaged")

    assert await testbed.children() == {"Deployment": [], "Service": [], "ConfigMap": []}
    assert testbed.topology is not None
    assert testbed.topology.edgemap.text() == "[n1]\n[camera]\n"


async def test_inline_instructions_become_a_configmap(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    shifu = DeviceShifuSpec(instructions={"on": DeviceInstruction(read_write="W")})
    await testbed.device("lamp", device_shifu=shifu)
    await testbed.placed("lamp")

    (name,) = (await testbed.children())["ConfigMap"]
    made = await testbed.client.get(ConfigMap, name, SHIFUS)

    assert msgspec.json.decode(made.data["instructions"]) == {
        "instructions": {"on": {"readWrite": "W"}}
    }
    assert await instructions_of(testbed, "lamp") == ("on",)


async def test_the_status_has_the_names_of_the_instructions_as_the_configmap_changes(
    testbed: ShifuTestbed,
) -> None:
    await testbed.node("n1")
    await testbed.device("edgedevice-lamp")
    await testbed.placed("edgedevice-lamp")
    assert await instructions_of(testbed, "edgedevice-lamp") == ()

    await testbed.apply(config_map("lamp-configmap", "{turn_on: , dim: {readWrite: W}}"))
    await testbed.cluster.advance(5)
    assert await instructions_of(testbed, "edgedevice-lamp") == ("dim", "turn_on")

    await testbed.apply(config_map("lamp-configmap", "{turn_on: }"))
    await testbed.cluster.advance(5)
    assert await instructions_of(testbed, "edgedevice-lamp") == ("turn_on",)

    await testbed.apply(config_map("lamp-configmap", "[: no YAML"))
    await testbed.cluster.advance(5)
    assert await instructions_of(testbed, "edgedevice-lamp") == ()


async def instructions_of(testbed: ShifuTestbed, device: str) -> tuple[str, ...]:
    """What the status says can be asked of a device."""
    status = (await testbed.get(device)).status
    assert status is not None
    assert status.device_shifu is not None
    return status.device_shifu.instructions


async def test_a_tcp_device_is_forwarded_through_its_service(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    settings = ProtocolSettings(tcp=TCPSetting(listen_port="9000"))
    await testbed.device("press", protocol="TCP", protocol_settings=settings)
    await testbed.placed("press")

    service = await testbed.client.get(Service, "deviceshifu-press", SHIFUS)

    assert [(each.port, each.target_port) for each in service.spec.ports] == [
        (80, "tcp"),
        (8080, "http"),
    ]
    (pod,) = await testbed.pods()
    assert [each.container_port for each in pod.spec.containers[0].ports] == [8080, 9000]


async def test_a_name_that_somebody_else_holds_is_not_taken(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    theirs = Service(
        metadata=ObjectMeta(name="deviceshifu-camera", namespace=SHIFUS),
        spec=ServiceSpec(ports=(ServicePort(port=80),), selector={"app": "mine"}),
    )
    await testbed.client.create(theirs)
    await testbed.device("camera")

    await testbed.cluster.advance(5)

    held = await testbed.client.get(Service, "deviceshifu-camera", SHIFUS)
    assert held.spec.selector == {"app": "mine"}
    assert await testbed.where() == {"camera": "n1"}


async def test_a_foreign_agent_that_reports_nothing_is_told_where_to_look() -> None:
    async with opened(agents=False) as testbed:
        await testbed.node("n1", simulated=False)
        await testbed.device("edgedevice-agv")
        await testbed.apply(users_deployment("agv"))
        await testbed.run_pods("n1")
        await testbed.said("edgedevice-agv", "DeviceShifuReady", "Available")
        assert condition_of(await testbed.get("edgedevice-agv"), "DeviceReachable") is None

        await testbed.run_pods("n1", 150)
        found = await testbed.said("edgedevice-agv", "DeviceReachable", "ForeignAgent")

        assert found.status is not None
        assert found.status.phase == "Pending"
        said = condition_of(found, "DeviceReachable")
        assert said.status == "Unknown"
        assert "deploy/shifu/upstream-agents" in said.message


def config_map(name: str, instruction: str, **sections: str) -> dict[str, Any]:
    """A ConfigMap of instructions."""
    data = {"instructions": f"instructions:\n  {instruction}\n", **sections}
    meta = {"name": name, "namespace": SHIFUS}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}
