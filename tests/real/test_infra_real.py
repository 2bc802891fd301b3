"""infra beside the real Infrastructure Manager, behind a proxy with faults.

Names begin with the numbers of the scenarios that they are; tests/interop has the others.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import patience
from infrastructure_manager import DummyFaults, InfrastructureManager
from infrastructure_manager.users import write_users
from quintant.api.core import Secret
from quintant.operators.infra.remote.connections import look_at
from testbeds.infra import PASSWORD, condition
from testbeds.infra_real import RealInfraTestbed, machines_of, opened_at, openstack_tosca
from testbeds.infrastructures import eventually
from testbeds.openstack import OpenStack
from testbeds.provider_proxy import Fault, FaultKind, ProviderProxy, is_create

pytestmark = pytest.mark.realtime

EARLY = (0.1, 0.5, 1, 2, 4)
"""Seconds after its creation at which a Cluster is deleted."""


async def test_1_6_10_cluster_is_made_scaled_and_deleted(
    real_infra: RealInfraTestbed,
    provider_proxy: ProviderProxy,
    dummy_manager: InfrastructureManager,
) -> None:
    await real_infra.make()
    await real_infra.cloud()
    await real_infra.provider()
    for state in ("CREATING", "CONNECTING", "ONLINE"):
        await real_infra.state(state)
    secret = await real_infra.cluster.get(Secret, "one-kubeconfig")
    assert b"made.example.com" in secret.reveal("value")
    for workers in (3, 1):
        await real_infra.scale(workers)
        await real_infra.state("RECONCILING")
        found = await real_infra.state("ONLINE")
        assert found.status is not None
        assert found.status.last_applied_tosca == found.spec.tosca
        assert len(machines_of(dummy_manager, provider_proxy)) == workers + 1
    await real_infra.delete()
    await real_infra.delete()
    await real_infra.state("DELETING")
    await real_infra.gone()
    assert provider_proxy.creates == 1
    assert await real_infra.cluster.client.find(Secret, "one-kubeconfig", "default") is None
    assert "Scaled" in await real_infra.reasons()


async def test_11_operator_that_is_killed_before_the_answer_adopts(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    fault = provider_proxy.inject(Fault(FaultKind.LATE_ANSWER, when=is_create, times=1))
    await real_infra.ready()
    await real_infra.make()
    await asyncio.wait_for(fault.applied.wait(), patience.seconds(60))
    await real_infra.crash()
    fault.release.set()
    await real_infra.start()
    await real_infra.state("ONLINE", within=90)
    assert provider_proxy.creates == 1
    await real_infra.end()


async def test_12_answer_that_is_lost_is_found(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    provider_proxy.inject(Fault(FaultKind.LOSE_ANSWER, when=is_create, times=1))
    await real_infra.online()
    assert provider_proxy.creates == 1
    assert "Adopted" in await real_infra.reasons()
    await real_infra.end()


async def test_19_deletion_during_a_launch_is_not_taken_for_an_answer(
    real_infra: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    dummy_manager.set_faults(DummyFaults(launch_delay=3))
    await real_infra.ready()
    await real_infra.make()
    id = await real_infra.created()

    async def launches() -> bool:
        return id in dummy_manager.ledger.launching

    await eventually(launches)
    await real_infra.end()


async def test_24_wrong_password_of_im_is_told_and_a_new_secret_is_enough(tmp_path: Path) -> None:
    right = PASSWORD.replace("\n", "")
    users = write_users(tmp_path / "users.json", {"us": right})
    with InfrastructureManager(tmp_path / "im", {"USER_DB": str(users)}) as manager:
        async with opened_at(manager.url, user="us") as testbed:
            await testbed.provider(password="wrong")
            await testbed.cloud()
            await testbed.make(cloudRef={"name": "here"})
            found = await testbed.state("FAILED")
            assert condition(found, "Stalled") == ("True", "Unauthorized")
            assert not manager.ledger.launching
            await testbed.secret("im-cred", password=right)
            await testbed.condition("Stalled", "False", within=5)
            await testbed.state("ONLINE")
            await testbed.end()
            assert not manager.ledger.machines


async def test_51_clusters_deleted_early_leave_no_machine(
    real_infra: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    dummy_manager.set_faults(DummyFaults(prepare_delay=3, launch_delay=2))
    await real_infra.ready()
    async with asyncio.TaskGroup() as group:
        for machines in (1, 4):
            for number, after in enumerate(EARLY):
                name = f"c{machines}-{number}"
                group.create_task(_short_life(real_infra, name, machines, after))


async def _short_life(testbed: RealInfraTestbed, name: str, machines: int, after: float) -> None:
    await testbed.make(name, machines - 1)
    await testbed.created(name)
    # The point in time is what is tested.
    await asyncio.sleep(after)
    await testbed.end(name)


async def test_52_wrong_password_of_the_cloud_makes_nothing_and_then_a_whole_life_on_openstack(
    small_cloud: OpenStack, provider_proxy: ProviderProxy
) -> None:
    async with opened_at(provider_proxy.url, looks=look_at) as testbed:
        await testbed.at_openstack(small_cloud, "wrong")
        await testbed.make(
            tosca=openstack_tosca(small_cloud, 1),
            cloudRef={"name": "0-os"},
            observer={"interval": "2s", "requireNodes": True},
        )
        found = await testbed.state("FAILED")
        assert condition(found, "CredentialsValid") == ("False", "CloudUnauthorized")
        assert (provider_proxy.creates, small_cloud.servers) == (0, {})
        await testbed.secret("os", password=small_cloud.password)
        await testbed.state("ONLINE", within=90)
        login = small_cloud.logins[-1]
        assert (login.user_domain, login.project_domain) == ({"name": "people"}, {"id": "projects"})
        await testbed.scale(2)
        await testbed.state("RECONCILING")
        await testbed.state("ONLINE", within=90)
        assert len(small_cloud.servers) == 3
        assert provider_proxy.creates == 1
        await testbed.end()
        assert (small_cloud.servers, small_cloud.groups, small_cloud.machines) == ({}, {}, {})
