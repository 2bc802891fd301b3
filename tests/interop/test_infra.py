"""infra beside the real Infrastructure Manager, behind a proxy with faults.

Names begin with the number of the scenario that they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

import patience
from infrastructure_manager import DummyFaults, InfrastructureManager
from infrastructure_manager.users import write_users
from quintant.api.core import Secret
from quintant.operators.infra.remote.connections import look_at
from testbeds.infra import PASSWORD, condition
from testbeds.infra_real import RealInfraTestbed, opened_at
from testbeds.infrastructures import eventually, openstack_template
from testbeds.openstack import OpenStack
from testbeds.provider_proxy import Fault, FaultKind, ProviderProxy, is_create


@pytest_asyncio.fixture
async def proxy(dummy_manager: InfrastructureManager) -> AsyncIterator[ProviderProxy]:
    async with ProviderProxy.before(dummy_manager.url) as proxy:
        yield proxy


@pytest_asyncio.fixture
async def testbed(
    dummy_manager: InfrastructureManager, proxy: ProviderProxy
) -> AsyncIterator[RealInfraTestbed]:
    """The operator; afterwards every machine that was made in the test is gone."""
    before = dummy_manager.ledger.machines
    async with opened_at(proxy.url) as found:
        try:
            yield found
        finally:
            dummy_manager.set_faults()
    assert dummy_manager.ledger.machines == before, "machines are left"
    assert found.account is not None
    assert not list(found.account.denied())


async def ready(testbed: RealInfraTestbed) -> None:
    await testbed.provider()
    await testbed.cloud()


async def end(testbed: RealInfraTestbed, name: str = "one") -> None:
    await testbed.delete(name)
    await testbed.gone(name)


async def test_1_cluster_is_made_and_10_deleted(
    testbed: RealInfraTestbed, proxy: ProviderProxy, dummy_manager: InfrastructureManager
) -> None:
    await ready(testbed)
    await testbed.make()
    await testbed.state("ONLINE", within=20)
    secret = await testbed.cluster.get(Secret, "one-kubeconfig")
    assert b"made.example.com" in secret.reveal("value")
    assert proxy.creates == 1
    await end(testbed)
    assert await testbed.cluster.client.find(Secret, "one-kubeconfig", "default") is None


async def test_6_cluster_is_scaled(
    testbed: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    await ready(testbed)
    await testbed.make()
    await testbed.state("ONLINE")
    id = await testbed.created()
    for workers in (3, 1):
        await testbed.scale(workers)
        await testbed.state("RECONCILING", within=10)
        await testbed.state("ONLINE")
        own = [each for each in dummy_manager.ledger.machines if each.startswith(id)]
        assert len(own) == workers + 1
    await end(testbed)


async def test_11_operator_that_is_killed_before_the_answer_adopts(
    testbed: RealInfraTestbed, proxy: ProviderProxy
) -> None:
    fault = proxy.inject(Fault(FaultKind.LATE_ANSWER, when=is_create, times=1))
    await ready(testbed)
    await testbed.make()
    await asyncio.wait_for(fault.applied.wait(), patience.seconds(30))
    await testbed.crash()
    fault.release.set()
    await testbed.start()
    await testbed.state("ONLINE", within=90)
    assert proxy.creates == 1
    await end(testbed)


async def test_12_answer_that_is_lost_is_found(
    testbed: RealInfraTestbed, proxy: ProviderProxy
) -> None:
    proxy.inject(Fault(FaultKind.LOSE_ANSWER, when=is_create, times=1))
    await ready(testbed)
    await testbed.make()
    await testbed.state("ONLINE", within=90)
    assert proxy.creates == 1
    assert "Adopted" in await testbed.reasons()
    await end(testbed)


async def test_15_cluster_deleted_with_a_lost_answer_leaves_nothing(
    testbed: RealInfraTestbed, proxy: ProviderProxy
) -> None:
    fault = proxy.inject(Fault(FaultKind.LOSE_ANSWER, when=is_create, times=1))
    await ready(testbed)
    await testbed.make()
    await asyncio.wait_for(fault.applied.wait(), patience.seconds(30))
    await end(testbed)
    assert proxy.creates == 1


async def test_19_deletion_during_a_launch_is_not_taken_for_an_answer(
    testbed: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    dummy_manager.set_faults(DummyFaults(launch_delay=4))
    await ready(testbed)
    await testbed.make()
    id = await testbed.created()

    async def launches() -> bool:
        return id in dummy_manager.ledger.launching

    await eventually(launches)
    await end(testbed)


async def test_23_id_is_kept_when_something_else_answers(
    testbed: RealInfraTestbed, proxy: ProviderProxy
) -> None:
    await ready(testbed)
    await testbed.make()
    await testbed.state("ONLINE")
    id = await testbed.created()
    page = Fault(FaultKind.ANSWER, status=404, body=b"<html>404</html>", content_type="text/html")
    proxy.inject(page)
    await testbed.condition("ProviderReachable", "False", within=patience.seconds(30))
    await asyncio.sleep(8)
    found = await testbed.get()
    assert found.status is not None
    assert found.status.cluster_id == id
    proxy.heal()
    await testbed.condition("ProviderReachable", "True", within=patience.seconds(90))
    assert proxy.creates == 1
    await end(testbed)


async def test_24_wrong_password_of_im_is_told_and_a_new_secret_is_enough(tmp_path: Path) -> None:
    users = write_users(tmp_path / "users.json", {"us": PASSWORD.replace("\n", "")})
    with InfrastructureManager(tmp_path / "im", {"USER_DB": str(users)}) as manager:
        async with opened_at(manager.url) as testbed:
            await testbed.provider(password="wrong")
            await testbed.cloud()
            await testbed.make(cloudRef={"name": "here"})
            found = await testbed.state("FAILED", within=20)
            assert condition(found, "Stalled") == ("True", "Unauthorized")
            await testbed.secret("im-cred", password=PASSWORD.replace("\n", ""))
            await testbed.condition("Stalled", "False", within=patience.seconds(5))
            await testbed.state("ONLINE")
            await end(testbed)


@pytest.mark.parametrize("machines", [1, 4])
async def test_51_clusters_deleted_early_leave_no_machine(
    testbed: RealInfraTestbed, dummy_manager: InfrastructureManager, machines: int
) -> None:
    dummy_manager.set_faults(DummyFaults(prepare_delay=3, launch_delay=2))
    await ready(testbed)
    async with asyncio.TaskGroup() as group:
        for number, after in enumerate((0.1, 0.5, 1, 2, 4)):
            group.create_task(_short_life(testbed, f"c{number}", machines, after))


async def _short_life(testbed: RealInfraTestbed, name: str, machines: int, after: float) -> None:
    await testbed.make(name, machines - 1)
    await testbed.created(name)
    await asyncio.sleep(after)
    await end(testbed, name)


async def openstack(testbed: RealInfraTestbed, cloud: OpenStack, password: str) -> None:
    """A provider, and a Cloud that is the small OpenStack."""
    await testbed.provider()
    await testbed.secret("os", username="user", password=password)
    auth = {"credentialsSecretRef": {"name": "os"}, "project": {"name": "project"}}
    stack = {"url": cloud.url, "auth": auth}
    spec = {"type": "openstack", "openstack": stack, "providerRef": {"name": "im"}}
    await testbed.create(
        {
            "apiVersion": "infra.quintant.dev/v1alpha1",
            "kind": "Cloud",
            "metadata": {"name": "0-os", "namespace": "default"},
            "spec": spec,
        }
    )


async def test_52_wrong_password_of_the_cloud_makes_nothing(
    dummy_manager: InfrastructureManager, proxy: ProviderProxy, tmp_path: Path
) -> None:
    async with (
        OpenStack.serve(tmp_path, password="of;the='cloud\"") as cloud,
        opened_at(proxy.url, looks=look_at) as testbed,
    ):
        tosca = msgspec.json.decode(openstack_template(cloud.seed.parts))
        await openstack(testbed, cloud, "wrong")
        await testbed.make(tosca=tosca, cloudRef={"name": "0-os"})
        found = await testbed.state("FAILED", within=20)
        assert condition(found, "CredentialsValid") == ("False", "CloudUnauthorized")
        assert proxy.creates == 0
        assert cloud.servers == {}
        await testbed.secret("os", password=cloud.password)
        await testbed.state("ONLINE", within=90)
        await end(testbed)
        assert (cloud.servers, cloud.groups) == ({}, {})


async def test_whole_life_on_an_openstack_with_a_real_cluster(
    dummy_manager: InfrastructureManager, proxy: ProviderProxy, tmp_path: Path
) -> None:
    async with (
        OpenStack.serve(tmp_path, password="of;the='cloud\"") as cloud,
        opened_at(proxy.url, looks=look_at) as testbed,
    ):
        await openstack(testbed, cloud, cloud.password)
        tosca = msgspec.json.decode(openstack_template(cloud.seed.parts, workers=1))
        await testbed.make(tosca=tosca, observer={"interval": "2s", "requireNodes": True})
        await testbed.state("ONLINE", within=90)
        await testbed.scale(2)
        await testbed.state("RECONCILING", within=10)
        found = await testbed.state("ONLINE", within=90)
        assert len(cloud.servers) == 3
        assert found.status is not None
        assert found.status.nodes is not None
        await end(testbed)
        assert (cloud.servers, cloud.groups, cloud.machines) == ({}, {}, {})
        assert proxy.creates == 1
