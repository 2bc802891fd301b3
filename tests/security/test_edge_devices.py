"""Who may create an EdgeDevice gets no Secret, image or right that was not meant for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest_asyncio

from quintant.api.core import Pod
from quintant.api.meta import condition_of
from quintant.operators.shifu.api.device import DeviceShifuSpec, EdgeDevice
from quintant.operators.shifu.api.settings import OPCUASetting, ProtocolSettings
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.telemetry_service.builders import deployment as telemetry
from quintant.wire.shifu import SPECIAL_ADDRESSES
from testbeds.shifu import DEMO, SHIFUS, ShifuTestbed, opened

LOGIN = ProtocolSettings(opcua=OPCUASetting(authentication_mode="UserName", username="robot"))
STRICT = msgspec.structs.replace(DEMO, allowed_images=())
SPECIAL = msgspec.structs.replace(DEMO, special_addresses=True)
ANNOTATION = "shifu.edgenesis.io/devices"


async def _press(testbed: ShifuTestbed, name: str, address: str, **more: Any) -> Pod:
    await testbed.device(name, protocol="OPCUA", address=address, protocol_settings=LOGIN, **more)
    await testbed.placed(name)
    (pod,) = [each for each in await testbed.pods() if each.spec.containers[0].env[0].value == name]
    return pod


def _secrets(pod: Pod) -> list[str]:
    return [each.secret.secret_name for each in pod.spec.volumes if each.secret is not None]


def _secret(name: str, devices: str = "") -> dict[str, Any]:
    meta = {"name": name, "namespace": SHIFUS, "annotations": {ANNOTATION: devices}}
    return {
        "apiVersion": "v1", "kind": "Secret", "metadata": meta,
        "stringData": {"password": "hunter2"},
    }  # fmt: skip


def _driver(image: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "plc-configmap", "namespace": SHIFUS},
        "data": {"driverProperties": f"driverImage: {image}"},
    }  # fmt: skip


def _message(device: EdgeDevice) -> str:
    assert device.status is not None
    found = condition_of(device.status.conditions, "ConfigValid")
    assert found is not None
    return found.message


@pytest_asyncio.fixture
async def testbed() -> AsyncIterator[ShifuTestbed]:
    async with opened() as made:
        await made.node("n1")
        yield made
        assert made.account is not None
        assert not made.account.denied()


async def test_a_device_gets_no_secret_that_does_not_name_it(testbed: ShifuTestbed) -> None:
    await testbed.apply(_secret("deviceshifu-secret", "devices/press@10.0.7.5:4840"))
    pod = await _press(testbed, "thief", "opc.tcp://10.0.0.66:4840/")
    assert _secrets(pod) == []
    told = await testbed.said("thief", "ConfigValid", "SecretNotShared")
    command = (
        "kubectl -n deviceshifu annotate secret deviceshifu-secret --overwrite "
        "shifu.edgenesis.io/devices=devices/press@10.0.7.5:4840,devices/thief@10.0.0.66:4840"
    )
    assert command in _message(told)


async def test_a_secret_that_names_device_and_host_is_mounted(testbed: ShifuTestbed) -> None:
    both = "devices/press@10.0.7.5:4840, devices/other@10.0.7.6:4840"
    await testbed.apply(_secret("deviceshifu-secret", both))
    await testbed.apply(_secret("own", "devices/lathe@10.0.7.7:4841"))
    pod = await _press(testbed, "press", "opc.tcp://10.0.7.5:4840/x")
    assert _secrets(pod) == ["deviceshifu-secret"]
    own = {"hints": {"secret": "own"}}
    assert _secrets(await _press(testbed, "lathe", "10.0.7.7:4841", **own)) == ["own"]


async def test_a_device_that_moves_to_another_host_loses_its_secret(testbed: ShifuTestbed) -> None:
    await testbed.apply(_secret("deviceshifu-secret", "devices/press@10.0.7.5:4840"))
    pod = await _press(testbed, "press", "10.0.7.5:4840")
    env = {each.name: each.value for each in pod.spec.containers[0].env}
    assert env["EDGEDEVICE_SECRET_FOR"] == "devices/press@10.0.7.5:4840"
    await testbed.merge(testbed.path("press"), {"spec": {"address": "10.0.0.66:4840"}})
    await testbed.cluster.advance(20)
    (pod,) = await testbed.pods()
    assert _secrets(pod) == []


async def test_a_secret_that_names_a_device_later_is_mounted_then(testbed: ShifuTestbed) -> None:
    await testbed.apply(_secret("deviceshifu-secret"))
    await _press(testbed, "press", "10.0.7.5:4840")
    await testbed.apply(_secret("deviceshifu-secret", "devices/press@10.0.7.5:4840"))
    await testbed.cluster.advance(60)
    (pod,) = await testbed.pods()
    assert _secrets(pod) == ["deviceshifu-secret"]
    await testbed.said("press", "ConfigValid", "NoInstructions")


async def test_an_image_that_the_operator_was_not_given_is_no_pod() -> None:
    async with opened(STRICT) as testbed:
        await testbed.node("n1")
        own = DeviceShifuSpec(image="evil.example/shell:1")
        await testbed.device("shell", device_shifu=own)
        told = await testbed.said("shell", "ConfigValid", "ImageNotAllowed")
        assert "ALLOWED_IMAGES" in _message(told)
        assert "evil.example/shell:1" in _message(told)
        await testbed.apply(_driver("evil.example/shell:1"))
        await testbed.device("edgedevice-plc", address="0.0.0.0:11111")
        await testbed.said("edgedevice-plc", "ConfigValid", "ImageNotAllowed")
        await testbed.cluster.advance(20)
        assert await testbed.pods() == []


async def test_every_pod_meets_the_restricted_level(testbed: ShifuTestbed) -> None:
    await testbed.apply(_driver("example.dev/plc:1"))
    await testbed.device("edgedevice-plc", address="0.0.0.0:11111")
    await testbed.placed("edgedevice-plc")
    await _press(testbed, "press", "10.0.7.5:4840")
    composed = [each.spec.template.value["spec"] for each in await testbed.deployments()]
    composed.append(telemetry(Options().agent).spec.template.value["spec"])
    assert len(composed) == 3
    for pod in composed:
        context = pod["securityContext"]
        assert context["runAsNonRoot"] is True
        assert context["runAsGroup"] > 0
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
        for volume in pod.get("volumes", ()):
            assert volume.keys() <= {"name", "configMap", "secret"}
        for container in pod["containers"]:
            own = container["securityContext"]
            assert own["allowPrivilegeEscalation"] is False
            assert own["capabilities"] == {"drop": ["ALL"]}


async def test_devices_are_at_special_addresses_only_where_the_operator_lets_them() -> None:
    for options, expected in ((DEMO, []), (SPECIAL, ["true"])):
        async with opened(options) as testbed:
            await testbed.node("n1")
            await _press(testbed, "press", "10.0.7.5:4840")
            (made,) = await testbed.deployments()
            (agent,) = made.spec.template.value["spec"]["containers"]
            given = [each["value"] for each in agent["env"] if each["name"] == SPECIAL_ADDRESSES]
            assert given == expected


def test_telemetry_gets_no_token_unless_its_program_is_another_which_may_ask_the_api_server() -> (
    None
):
    ours = telemetry(Options().agent).spec.template.value["spec"]
    assert ours["automountServiceAccountToken"] is False
    upstreams = telemetry(Options(agent_image="example.dev/telemetry:1").agent)
    assert "automountServiceAccountToken" not in upstreams.spec.template.value["spec"]
