"""The service that takes telemetry: for as long as anybody wants it, and only if it is on."""

from __future__ import annotations

from msgspec.structs import replace

from quintant.api.apps import Deployment, DeploymentStatus
from quintant.api.core import Service
from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.telemetry import TelemetryService
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


async def test_it_is_off_unless_it_is_asked_for(testbed: ShifuTestbed) -> None:
    await wanted(testbed, "one")
    await testbed.cluster.advance(10)
    assert await testbed.client.find(Deployment, "telemetryservice", PLACE) is None
