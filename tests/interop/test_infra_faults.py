"""infra beside the real Infrastructure Manager: what goes wrong, and what is left of it.

Names begin with the numbers of the scenarios that they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import patience
from infrastructure_manager import DummyFaults, InfrastructureManager
from quintant.api.core import Secret
from quintant.operators.infra.api import IN_USE, Cloud, Cluster
from testbeds.infra import PASSWORD, condition, tear_away
from testbeds.infra_real import RealInfraTestbed, machines_of, opened_at, real_template
from testbeds.infrastructures import Infrastructures, dummy_record, eventually
from testbeds.provider_proxy import Fault, FaultKind, ProviderProxy, is_create, is_update

SOON: dict[str, Any] = {"reconfigure": {"backoff": "1s", "maxBackoff": "2s", "maxAttempts": 3}}
HEALED: dict[str, Any] = {"timeouts": {"launchGrace": "5s"}, "reconfigure": {"backoff": "1s"}}
PAGES: dict[str, Callable[[], Fault]] = {
    "html": Fault.html_not_found,
    "route": lambda: Fault.answers(404, b'{"detail":"Not Found"}', "application/json"),
    "overload": lambda: Fault.answers(503),
    "too many": lambda: Fault.answers(429),
    "no JSON": lambda: Fault.answers(200, b"{", "application/json"),
    "100 MB": lambda: Fault.answers(200, b" " * 100_000_000, "application/json"),
}


async def state_of(testbed: RealInfraTestbed, name: str = "one") -> str:
    found = await testbed.get(name)
    return (found.status.state if found.status is not None else None) or "PENDING"


@asynccontextmanager
async def own_manager(
    folder: Path,
) -> AsyncIterator[tuple[InfrastructureManager, ProviderProxy, RealInfraTestbed]]:
    """An Infrastructure Manager that a test may kill, a proxy before it, and the operator."""
    with InfrastructureManager(folder) as manager:
        async with ProviderProxy.before(manager.url) as proxy, opened_at(proxy.url) as testbed:
            yield manager, proxy, testbed


async def again(manager: InfrastructureManager) -> None:
    """Kill it, and start it again."""
    manager.kill()
    manager.launch()
    await asyncio.to_thread(manager.wait_ready)


async def test_13_manager_that_dies_with_the_answer_is_healed(tmp_path: Path) -> None:
    async with own_manager(tmp_path) as (manager, proxy, testbed):
        manager.set_faults(DummyFaults(prepare_delay=3))
        fault = proxy.inject(Fault(FaultKind.LOSE_ANSWER, when=is_create, times=1))
        await testbed.ready()
        await testbed.make(**HEALED)
        await asyncio.wait_for(fault.applied.wait(), patience.seconds(60))
        await again(manager)
        manager.set_faults()
        await testbed.state("ONLINE", within=180)
        # What it had not written down yet is asked for again; there is one all the same.
        assert len(machines_of(manager, proxy)) == 2
        await testbed.end()
        assert machines_of(manager, proxy) == []


async def test_14_request_that_never_arrived_is_sent_once_it_is_settled(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    fault = provider_proxy.inject(Fault(FaultKind.HANG, when=is_create, times=1))
    await real_infra.ready()
    await real_infra.make()
    await asyncio.wait_for(fault.met.wait(), patience.seconds(60))
    await real_infra.crash()
    token = (await real_infra.get()).status.operation.token  # type: ignore[union-attr]
    assert token
    await real_infra.start()
    await real_infra.state("ONLINE", within=180)
    assert provider_proxy.creates == 1
    await real_infra.end()


async def test_15_cluster_deleted_with_a_lost_answer_leaves_nothing(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    fault = provider_proxy.inject(Fault(FaultKind.LOSE_ANSWER, when=is_create, times=1))
    await real_infra.ready()
    await real_infra.make()
    await asyncio.wait_for(fault.applied.wait(), patience.seconds(60))
    await real_infra.end()
    assert provider_proxy.creates == 1


async def test_17_update_whose_answer_is_lost_launches_nothing_twice(
    real_infra: RealInfraTestbed,
    provider_proxy: ProviderProxy,
    dummy_manager: InfrastructureManager,
) -> None:
    await real_infra.online()
    dummy_manager.set_faults(DummyFaults(launch_delay=5))
    provider_proxy.inject(Fault(FaultKind.CUT, when=is_update, times=1))
    await real_infra.scale(3)
    await real_infra.state("RECONCILING")
    await real_infra.state("ONLINE", within=240)
    assert len(machines_of(dummy_manager, provider_proxy)) == 4
    await real_infra.end()


async def test_20_manager_that_is_down_is_waited_for(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    await provider_proxy.refuse()
    await real_infra.ready()
    await real_infra.make(cloudRef={"name": "here"})
    await real_infra.condition("ProviderReachable", "False")
    assert await state_of(real_infra) in ("PENDING", "CREATING")
    await provider_proxy.listen()
    await real_infra.state("ONLINE", within=120)
    await real_infra.end()


async def test_21_manager_that_goes_down_changes_no_state(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    id = await real_infra.online(observer={"interval": "2s"})
    await provider_proxy.refuse()
    await real_infra.condition("ProviderReachable", "False")
    assert set(await real_infra.states_of(seconds=20)) == {"ONLINE"}
    assert await real_infra.created() == id
    await provider_proxy.listen()
    await real_infra.condition("ProviderReachable", "True", within=90)
    await real_infra.end()


@pytest.mark.parametrize("page", PAGES)
async def test_22_23_id_is_kept_and_little_is_asked_when_something_else_answers(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy, page: str
) -> None:
    id = await real_infra.online()
    provider_proxy.inject(PAGES[page]())
    await real_infra.condition("ProviderReachable", "False")
    asked = provider_proxy.asked
    assert set(await real_infra.states_of(seconds=8)) == {"ONLINE"}
    assert provider_proxy.asked - asked < 20
    provider_proxy.heal()
    await real_infra.condition("ProviderReachable", "True", within=90)
    assert (await real_infra.created(), provider_proxy.creates) == (id, 1)
    await real_infra.end()


async def test_22_manager_that_hangs_keeps_nobody_waiting(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    path = "/apis/infra.quintant.dev/v1alpha1/namespaces/default/infrastructureproviders/im"
    await real_infra.provider()
    await real_infra.merge(path, {"spec": {"im": {"requestTimeout": "2s"}}})
    await real_infra.cloud()
    await real_infra.make()
    await real_infra.state("ONLINE")
    provider_proxy.inject(Fault(FaultKind.HANG))
    await real_infra.condition("ProviderReachable", "False")
    provider_proxy.heal()
    await real_infra.condition("ProviderReachable", "True", within=90)
    await real_infra.end()


async def test_26_template_that_is_none_is_refused_until_it_changes(
    real_infra: RealInfraTestbed, provider_proxy: ProviderProxy
) -> None:
    tosca = real_template()
    tosca["topology_template"]["node_templates"]["front"]["colour"] = "blue"
    await real_infra.ready()
    await real_infra.make(tosca=tosca)
    found = await real_infra.state("FAILED")
    assert condition(found, "TemplateValid") == ("False", "TemplateInvalid")
    assert found.status is not None
    assert len(found.status.phase_message) <= 1024
    assert "Traceback" not in found.status.phase_message
    assert "File" not in found.status.phase_message
    front = {"colour": None}
    await real_infra.edit(tosca={"topology_template": {"node_templates": {"front": front}}})
    await real_infra.state("ONLINE")
    assert provider_proxy.creates == 1
    await real_infra.end()


async def test_28_import_out_of_reach_is_waited_for(real_infra: RealInfraTestbed) -> None:
    tosca = {**real_template(), "imports": [{"types": "http://127.0.0.1:9/types.yaml"}]}
    await real_infra.ready()
    await real_infra.make(tosca=tosca)
    await real_infra.condition("ProviderReachable", "False", "ImportUnreachable")
    assert await state_of(real_infra) == "CREATING"
    await real_infra.edit(tosca={"imports": None})
    await real_infra.state("ONLINE", within=120)
    await real_infra.end()


async def test_30_quota_is_told_and_healed_once_it_is_lifted(
    real_infra: RealInfraTestbed,
    provider_proxy: ProviderProxy,
    dummy_manager: InfrastructureManager,
) -> None:
    dummy_manager.set_faults(DummyFaults(launch_fail="403 Forbidden Quota exceeded"))
    await real_infra.ready()
    await real_infra.make(reconfigure={"backoff": "1s"})
    found = await real_infra.state("FAILING_RECONCILIATION")
    assert found.status is not None
    assert "Quota exceeded" in found.status.phase_message
    dummy_manager.set_faults()
    await real_infra.state("ONLINE", within=120)
    dummy_manager.set_faults(DummyFaults(launch_fail="403 Forbidden Quota exceeded"))
    before = machines_of(dummy_manager, provider_proxy)
    await real_infra.scale(3)
    found = await real_infra.condition("Synced", "False", "QuotaExceeded")
    assert found.status is not None
    assert found.status.last_applied_tosca != found.spec.tosca
    assert machines_of(dummy_manager, provider_proxy) == before
    dummy_manager.set_faults()
    await real_infra.condition("Synced", "True", within=120)
    await real_infra.state("ONLINE")
    assert len(machines_of(dummy_manager, provider_proxy)) == 4
    assert provider_proxy.creates == 1
    await real_infra.end()


async def test_31_32_what_is_not_configured_is_configured_again(
    real_infra: RealInfraTestbed,
    provider_proxy: ProviderProxy,
    dummy_manager: InfrastructureManager,
) -> None:
    dummy_manager.set_faults(DummyFaults(address=""))
    await real_infra.ready()
    await real_infra.make(**SOON)
    seen: set[str] = set()
    while "FAILED" not in seen:
        seen |= set(await real_infra.states_of(seconds=1))
    assert "FAILING_RECONCILIATION" in seen
    assert not seen & {"CONNECTING", "ONLINE"}
    assert provider_proxy.count("PUT") == 3
    found = await real_infra.get()
    assert condition(found, "Stalled") == ("True", "ReconfigureFailed")
    dummy_manager.set_faults()
    await real_infra.annotate(retry="now")
    await real_infra.state("ONLINE", within=90)
    await real_infra.end()


async def test_33_infrastructure_deleted_behind_our_back_is_made_anew_once(
    real_infra: RealInfraTestbed,
    provider_proxy: ProviderProxy,
    dummy_manager: InfrastructureManager,
) -> None:
    id = await real_infra.online()
    record = dummy_record("c.here")
    async with Infrastructures.at(
        dummy_manager.url, record, user=real_infra.user, password=PASSWORD
    ) as others:
        await others.destroy(id)
    await real_infra.cluster.eventually(
        Cluster,
        "one",
        until=lambda it: bool(it.status and it.status.cluster_id not in ("", id)),
        within=patience.seconds(120),
    )
    await real_infra.state("ONLINE")
    assert provider_proxy.creates == 2
    assert "InfrastructureGone" in await real_infra.reasons()
    await real_infra.end()


async def test_35_manager_that_dies_during_a_creation_is_healed(tmp_path: Path) -> None:
    async with own_manager(tmp_path) as (manager, proxy, testbed):
        manager.set_faults(DummyFaults(prepare_delay=6))
        await testbed.ready()
        await testbed.make(**HEALED)
        await testbed.created()
        await again(manager)
        manager.set_faults()
        await testbed.state("ONLINE", within=180)
        assert proxy.creates == 1
        assert len(machines_of(manager, proxy)) == 2
        await testbed.end()
        assert machines_of(manager, proxy) == []


async def test_36_machine_that_failed_is_replaced_if_that_is_wanted(
    real_infra: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    await real_infra.online(replaceFailedVMs=True, **SOON)
    dummy_manager.set_faults(DummyFaults(states={"1": "failed"}))
    found = await real_infra.state("FAILING_RECONCILIATION")
    assert found.status is not None
    assert "machine 1" in found.status.phase_message
    found = await real_infra.state("ONLINE", within=120)
    assert found.status is not None
    assert found.status.infrastructure is not None
    assert [each.id for each in found.status.infrastructure.vms] == ["0", "2"]
    await real_infra.end()


async def test_36_stopped_machines_are_told(
    real_infra: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    await real_infra.online(reconfigure={"backoff": "1m"})
    dummy_manager.set_faults(DummyFaults(state="stopped"))
    await real_infra.condition("InfrastructureReady", "False", "Stopped")
    dummy_manager.set_faults()
    await real_infra.state("ONLINE", within=120)
    await real_infra.end()


async def test_37_deletion_that_fails_silently_is_repeated_and_its_reason_told(
    real_infra: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    await real_infra.online()
    dummy_manager.set_faults(DummyFaults(destroy_fail="port is in use"))
    await real_infra.delete()
    found = await real_infra.condition("Deleting", "True", "DeleteFailed", within=120)
    assert found.status is not None
    assert "port is in use" in found.status.phase_message
    dummy_manager.set_faults()
    await real_infra.gone(within=120)


async def test_37_force_delete_ends_what_cannot_be_deleted(tmp_path: Path) -> None:
    async with own_manager(tmp_path) as (manager, _, testbed):
        await testbed.online()
        manager.set_faults(DummyFaults(destroy_fail="port is in use"))
        await testbed.delete()
        await testbed.condition("Deleting", "True", "DeleteFailed", within=120)
        await testbed.annotate(force_delete="true")
        await testbed.gone(within=120)


async def test_39_cloud_in_use_stays_until_its_clusters_are_gone(
    real_infra: RealInfraTestbed,
) -> None:
    await real_infra.online()
    within = patience.seconds(60)
    cloud = await real_infra.cluster.eventually(
        Cloud, "here", until=lambda it: IN_USE in it.metadata.finalizers, within=within
    )
    await real_infra.cluster.client.delete(cloud)
    await real_infra.scale(2)
    await real_infra.state("RECONCILING")
    await real_infra.state("ONLINE")
    await real_infra.end()
    await real_infra.cluster.wait_deleted(Cloud, "here", within=within)


async def test_40_cluster_whose_cloud_was_torn_away_waits_for_it(
    real_infra: RealInfraTestbed,
) -> None:
    await real_infra.online()
    await real_infra.crash()
    cloud = await real_infra.cluster.get(Cloud, "here")
    await real_infra.cluster.client.json_patch(
        Cloud, cloud.metadata, [{"op": "remove", "path": "/metadata/finalizers"}]
    )
    await real_infra.cluster.client.delete(cloud)
    await real_infra.delete()
    await real_infra.start()
    before = await real_infra.condition("Deleting", "True", "CloudNotFound")
    await real_infra.states_of(seconds=10)
    after = await real_infra.get()
    assert before.metadata.resource_version == after.metadata.resource_version
    await real_infra.cloud()
    await real_infra.gone()


async def test_41_secret_that_is_missing_is_named_and_awaited(
    real_infra: RealInfraTestbed,
) -> None:
    await real_infra.online()
    secret = await real_infra.cluster.eventually(
        Secret, "im-cred", until=lambda it: bool(it.metadata.finalizers)
    )
    await tear_away(real_infra.cluster.client, secret)
    found = await real_infra.condition("CloudResolved", "False", "SecretNotFound")
    assert found.status is not None
    assert "default/im-cred" in found.status.phase_message
    await real_infra.secret("im-cred", username=real_infra.user, password=PASSWORD)
    await real_infra.state("ONLINE")
    await real_infra.end()


async def test_delays_longer_than_the_timeouts_end_well(
    real_infra: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    dummy_manager.set_faults(DummyFaults(prepare_delay=8, destroy_delay=4))
    await real_infra.ready()
    await real_infra.make(timeouts={"create": "2s", "delete": "2s"})
    found = await real_infra.state("FAILED")
    assert condition(found, "Stalled") == ("True", "CreateTimeout")
    await real_infra.state("ONLINE", within=120)
    await real_infra.end()


async def test_state_read_at_the_end_of_a_deletion_brings_nothing_back(
    real_infra: RealInfraTestbed, dummy_manager: InfrastructureManager
) -> None:
    """Whoever reads the state at that moment brings an infrastructure back without machines."""
    await real_infra.ready()
    await real_infra.make("one", workers=3)
    await real_infra.state("ONLINE")
    id = await real_infra.created()
    dummy_manager.set_faults(DummyFaults(destroy_delay=0.2))
    record = dummy_record("c.here")
    async with Infrastructures.at(
        dummy_manager.url, record, user=real_infra.user, password=PASSWORD
    ) as others:
        await real_infra.delete()

        async def gone() -> bool:
            await asyncio.gather(*(others.state(id) for _ in range(5)))
            return await real_infra.cluster.client.find(Cluster, "one", "default") is None

        await eventually(gone)
        assert await others.ids() == []
