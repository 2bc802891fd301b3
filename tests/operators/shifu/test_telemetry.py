"""The service that takes telemetry: for as long as anybody wants it, and only if it is on."""

from __future__ import annotations

from msgspec.structs import replace

from quintant.api.apps import Deployment, DeploymentStatus
from quintant.api.core import PodTemplateSpec, Service
from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.settings import MQTTSetting
from quintant.operators.shifu.api.telemetry import (
    ServiceSettings,
    TelemetryService,
    TelemetryServiceSpec,
)
from testbeds.shifu import DEMO, DEVICES, ShifuTestbed, opened

PLACE = "shifu-service"


async def wanted(testbed: ShifuTestbed, name: str) -> TelemetryService:
    return await testbed.client.create(
        TelemetryService(metadata=ObjectMeta(name=name, namespace=DEVICES))
    )


async def test_it_comes_with_the_first_and_goes_with_the_last() -> None:
    async with opened(replace(DEMO, telemetry_service=True)) as testbed:
        one, two = await wanted(testbed, "one"), await wanted(testbed, "two")
        made = await testbed.cluster.eventually(Deployment, "telemetryservice", PLACE)
        await testbed.cluster.eventually(Service, "telemetryservice", PLACE)
        up = DeploymentStatus(
            observed_generation=1, replicas=1, ready_replicas=1, available_replicas=1
        )
        await testbed.client.set_status(made, up)
        for name in ("one", "two"):
            await testbed.cluster.eventually(
                TelemetryService, name, DEVICES, within=40,
                until=lambda it: it.status is not None and it.status.phase == "Running",
            )  # fmt: skip

        await testbed.client.delete(one)
        await testbed.cluster.advance(5)
        assert await testbed.client.find(Deployment, "telemetryservice", PLACE)
        await testbed.client.delete(two)

        await testbed.cluster.wait_deleted(Deployment, "telemetryservice", PLACE)
        await testbed.cluster.wait_deleted(Service, "telemetryservice", PLACE)
        assert testbed.account is not None
        assert not testbed.account.denied()


async def test_one_that_is_not_ours_is_neither_changed_nor_deleted() -> None:
    async with opened(replace(DEMO, telemetry_service=True)) as testbed:
        meta = {"name": "telemetryservice", "namespace": PLACE, "labels": {"app": "theirs"}}
        port = {"port": 80, "targetPort": 8080}
        spec = {"selector": {"app": "theirs"}, "ports": [port]}
        await testbed.apply({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec})
        before = await testbed.client.get(Service, "telemetryservice", PLACE)
        one = await wanted(testbed, "one")
        await testbed.cluster.eventually(Deployment, "telemetryservice", PLACE)
        await testbed.client.delete(one)
        await testbed.cluster.wait_deleted(Deployment, "telemetryservice", PLACE)
        await testbed.cluster.advance(5)
        assert await testbed.client.get(Service, "telemetryservice", PLACE) == before


async def test_it_is_off_unless_it_is_asked_for(testbed: ShifuTestbed) -> None:
    await wanted(testbed, "one")
    await testbed.cluster.advance(10)
    assert await testbed.client.find(Deployment, "telemetryservice", PLACE) is None


async def test_it_may_dial_the_brokers_that_telemetryservices_name_and_no_others() -> None:
    async with opened(replace(DEMO, telemetry_service=True)) as testbed:
        one = await wanted(testbed, "one")
        await testbed.cluster.eventually(Deployment, "telemetryservice", PLACE)
        assert await brokers(testbed) == ""
        settings = ServiceSettings(mqtt=MQTTSetting(server_address="mqtt://Mosquitto.plant"))
        spec = TelemetryServiceSpec(service_settings=settings)
        meta = ObjectMeta(name="two", namespace=DEVICES)
        two = await testbed.client.create(TelemetryService(metadata=meta, spec=spec))
        await testbed.cluster.advance(5)
        assert await brokers(testbed) == "mosquitto.plant:1883"
        await testbed.client.delete(two)
        await testbed.cluster.advance(5)
        assert await brokers(testbed) == ""
        await testbed.client.delete(one)


async def brokers(testbed: ShifuTestbed) -> str:
    found = await testbed.client.get(Deployment, "telemetryservice", PLACE)
    template = found.spec.template.to(PodTemplateSpec)
    (container,) = template.spec.containers
    return {each.name: each.value for each in container.env}["TELEMETRY_BROKERS"]
