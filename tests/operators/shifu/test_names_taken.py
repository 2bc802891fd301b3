"""Objects of users under names of ours: the rest is done, and the device says which they are."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.core import ConfigMap, Pod, Service
from quintant.operators.shifu.api.device import DeviceInstruction, DeviceShifuSpec
from quintant.testing import kind, writes
from testbeds.shifu import SHIFUS, ShifuTestbed, condition_of

META = {"name": "deviceshifu-x", "namespace": SHIFUS, "labels": {"app": "theirs"}}
SERVICE: dict[str, Any] = {
    "apiVersion": "v1", "kind": "Service", "metadata": META,
    "spec": {"selector": {"app": "theirs"}, "ports": [{"port": 80}]},
}  # fmt: skip
CONFIG: dict[str, Any] = {
    "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"},
    "metadata": {**META, "name": "deviceshifu-x-config"},
}  # fmt: skip
POD = {
    "metadata": {"labels": {"app": "theirs"}},
    "spec": {"containers": [{"name": "a", "image": "i"}]},
}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": META,
    "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "theirs"}}, "template": POD},
}  # fmt: skip


async def test_a_users_service_stops_neither_a_device_nor_its_evacuation(
    testbed: ShifuTestbed,
) -> None:
    await testbed.nodes("n1", "n2")
    await testbed.apply(SERVICE)
    before = await testbed.client.get(Service, "deviceshifu-x", SHIFUS)
    await testbed.device("x")
    found = await testbed.said("x", "DeviceShifuReady", "NameTaken")
    assert "Service deviceshifu/deviceshifu-x" in condition_of(found, "DeviceShifuReady").message
    assert "NameTaken" in await testbed.reasons()
    node = (await testbed.where())["x"]

    await testbed.fault(node, "dead")
    await testbed.cluster.advance(120)
    assert (await testbed.where()).get("x") not in (node, None)
    placement = (await testbed.get("x")).status.placement  # type: ignore[union-attr]
    assert placement is not None
    assert placement.node_name == (await testbed.where())["x"]
    assert "Evacuated" in await testbed.reasons()
    assert await testbed.client.get(Service, "deviceshifu-x", SHIFUS) == before

    await testbed.client.delete(before)
    await testbed.placed("x", within=60)


@pytest.mark.parametrize("taken", [CONFIG, DEPLOYMENT])
async def test_each_of_them_is_named_and_given_back(
    testbed: ShifuTestbed, taken: dict[str, Any]
) -> None:
    await testbed.node("n1")
    await testbed.apply(taken)
    await testbed.device("x")
    found = await testbed.said("x", "DeviceShifuReady", "NameTaken")
    message = condition_of(found, "DeviceShifuReady").message
    assert f"{taken['kind']} deviceshifu/{taken['metadata']['name']} exists" in message
    assert (await testbed.children())["Service"] == ["deviceshifu-x"]


async def test_what_the_server_refuses_is_said_and_the_rest_is_done(testbed: ShifuTestbed) -> None:
    await testbed.node("n1")
    with testbed.cluster.faults.answer(403, when=writes & kind(Service)):
        await testbed.device("x")
        found = await testbed.said("x", "DeviceShifuReady", "Refused")
        assert len(condition_of(found, "DeviceShifuReady").message) > 5
        await testbed.cluster.advance(10)
        assert list(await testbed.where()) == ["x"]
        assert "Refused" in await testbed.reasons()
    await testbed.placed("x", within=60)


@pytest.mark.parametrize(("refused", "name"), [(ConfigMap, "-config"), (Service, "")])
async def test_a_refused_write_keeps_no_pod_on_a_dead_node(
    testbed: ShifuTestbed, refused: type[ConfigMap] | type[Service], name: str
) -> None:
    await testbed.nodes("n1", "n2")
    await testbed.device("x", device_shifu=DeviceShifuSpec(instructions={"a": DeviceInstruction()}))
    await testbed.placed("x")
    node, (old,) = (await testbed.where())["x"], await testbed.pods()
    with testbed.cluster.faults.answer(403, when=writes & kind(refused)):
        await testbed.client.delete(
            await testbed.client.get(refused, f"deviceshifu-x{name}", SHIFUS)
        )
        await testbed.said("x", "DeviceShifuReady", "Refused")
        await testbed.fault(node, "dead")
        await testbed.cluster.advance(120)
        assert await testbed.client.find(Pod, old.metadata.name, SHIFUS) is None
        assert (await testbed.where()).get("x") not in (node, None)
