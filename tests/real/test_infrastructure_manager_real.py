"""The real Infrastructure Manager, its Dummy cloud with faults, and the proxy before it.

Whoever builds on them finds here what they do; figures are printed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic

import psutil
import pytest
import pytest_asyncio
from aiohttp import ClientError

from infrastructure_manager import DummyFaults, InfrastructureManager
from infrastructure_manager.users import write_users
from testbeds.infrastructures import (
    Infrastructures,
    InfrastructureState,
    dummy_record,
    dummy_template,
    eventually,
)
from testbeds.provider_proxy import Fault, FaultKind, ProviderProxy, is_create

KUBECONFIG = "apiVersion: v1\nkind: Config\nclusters: []\n"
TEMPLATE = dummy_template(KUBECONFIG)
MEGABYTE = 1024 * 1024


@pytest_asyncio.fixture
async def infrastructures(dummy_manager: InfrastructureManager) -> AsyncIterator[Infrastructures]:
    async with Infrastructures.at(dummy_manager.url, dummy_record()) as found:
        yield found
        dummy_manager.set_faults()
        for id in await found.ids():
            await found.destroy(id)


async def test_infrastructure_is_made_scaled_and_deleted(
    dummy_manager: InfrastructureManager, infrastructures: Infrastructures
) -> None:
    began = monotonic()
    id = await infrastructures.create(TEMPLATE)
    asked = monotonic() - began
    found = await infrastructures.until(id, "configured")
    configured = monotonic() - began
    assert len(found.machines) == 2
    assert (await infrastructures.outputs(id))["kubeconfig"] == KUBECONFIG
    assert (await infrastructures.update(id, dummy_template(KUBECONFIG, workers=3))).status == 200
    assert len((await infrastructures.until(id, "configured")).machines) == 4
    assert len(_machines(dummy_manager, id)) == 4
    await infrastructures.destroy(id)
    assert await infrastructures.ids() == []
    assert not _machines(dummy_manager, id)
    used = psutil.Process(dummy_manager.pid).memory_info().rss / MEGABYTE
    print(f"create {asked:.2f} s, configured {configured:.1f} s, IM has {used:.0f} MB")


async def test_dry_run_makes_nothing(infrastructures: Infrastructures) -> None:
    answer = await infrastructures.dry_run(TEMPLATE)
    assert answer.status == 200
    assert len(answer.json["dummy"]["compute"]) == 2
    assert (await infrastructures.dry_run("not: tosca")).status == 400
    assert await infrastructures.ids() == []


async def test_launch_that_fails_is_told_in_the_log_of_the_infrastructure(
    dummy_manager: InfrastructureManager, infrastructures: Infrastructures
) -> None:
    dummy_manager.set_faults(DummyFaults(launch_fail="Quota exceeded"))
    id = await infrastructures.create(TEMPLATE)
    await infrastructures.until(id, "failed")

    async def told() -> bool:
        answer = await infrastructures.ask("GET", f"/infrastructures/{id}/contmsg")
        return "Quota exceeded" in answer.text

    await eventually(told)
    assert not _machines(dummy_manager, id)


async def test_deletion_is_refused_while_machines_are_launched(
    dummy_manager: InfrastructureManager, infrastructures: Infrastructures
) -> None:
    dummy_manager.set_faults(DummyFaults(launch_delay=2))
    id = await infrastructures.create(TEMPLATE)
    await _launching(dummy_manager, id)
    assert (await infrastructures.delete(id)).status == 409
    await infrastructures.until(id, "configured")


async def test_machines_leak_if_an_infrastructure_is_deleted_before_they_are_launched(
    dummy_manager: InfrastructureManager, infrastructures: Infrastructures
) -> None:
    # Long enough for the deletion to come first on a busy machine, too.
    dummy_manager.set_faults(DummyFaults(prepare_delay=5))
    id = await infrastructures.create(TEMPLATE)
    assert await infrastructures.state(id) == InfrastructureState("pending", {})
    assert (await infrastructures.delete(id)).status == 200
    await infrastructures.until_gone(id)
    await _launching(dummy_manager, id)
    assert await infrastructures.ids() == []

    async def leaked() -> bool:
        return len(_machines(dummy_manager, id)) == 2

    await eventually(leaked)


async def test_machine_without_address_is_unconfigured_until_reconfigured(
    dummy_manager: InfrastructureManager, infrastructures: Infrastructures
) -> None:
    dummy_manager.set_faults(DummyFaults(address=""))
    id = await infrastructures.create(TEMPLATE)
    await infrastructures.until(id, "unconfigured")
    dummy_manager.set_faults()
    answer = await infrastructures.ask("PUT", f"/infrastructures/{id}/reconfigure")
    assert answer.status == 200
    await infrastructures.until(id, "configured")


async def test_one_machine_fails_and_the_others_do_not(
    dummy_manager: InfrastructureManager, infrastructures: Infrastructures
) -> None:
    id = await infrastructures.create(TEMPLATE)
    first, second = (await infrastructures.until(id, "configured")).machines
    dummy_manager.set_faults(DummyFaults(states={second: "failed"}))
    found = await infrastructures.until(id, "failed")
    assert found.machines == {first: "configured", second: "failed"}


async def test_deletion_that_fails_leaves_the_infrastructure(
    dummy_manager: InfrastructureManager, infrastructures: Infrastructures
) -> None:
    id = await infrastructures.create(TEMPLATE)
    await infrastructures.until(id, "configured")
    dummy_manager.set_faults(DummyFaults(destroy_fail="port is in use"))
    told = await infrastructures.ask("DELETE", f"/infrastructures/{id}")
    assert told.status == 400
    assert "port is in use" in told.text
    assert await infrastructures.ids() == [id]


async def test_users_that_it_does_not_know_are_refused(tmp_path: Path) -> None:
    users = write_users(tmp_path / "users.json", {"known": "word"})
    with InfrastructureManager(tmp_path / "im", {"USER_DB": str(users)}) as manager:
        async with Infrastructures.at(manager.url, dummy_record(), user="x", password="y") as other:
            assert (await other.ask("GET", "/infrastructures")).status == 401
        known = Infrastructures.at(manager.url, dummy_record(), user="known", password="word")
        async with known as found:
            assert await found.ids() == []


async def test_killed_manager_remembers_when_it_is_started_again(tmp_path: Path) -> None:
    with InfrastructureManager(tmp_path / "im") as manager:
        async with Infrastructures.at(manager.url, dummy_record()) as found:
            id = await found.create(TEMPLATE)
            await found.until(id, "configured")
            manager.kill()
            began = monotonic()
            manager.launch()
            await asyncio.to_thread(manager.wait_ready)
            print(f"ready again after {monotonic() - began:.1f} s")
            assert await found.ids() == [id]


async def _launching(manager: InfrastructureManager, id: str) -> None:
    """Wait until the cloud is asked for machines."""

    async def begun() -> bool:
        return id in manager.ledger.launching

    await eventually(begun)


def _machines(manager: InfrastructureManager, id: str) -> list[str]:
    """What the cloud has of an infrastructure."""
    return [each for each in manager.ledger.machines if each.startswith(id)]


class TestProxy:
    @pytest_asyncio.fixture
    async def proxy(self, dummy_manager: InfrastructureManager) -> AsyncIterator[ProviderProxy]:
        async with ProviderProxy.before(dummy_manager.url) as proxy:
            yield proxy

    @pytest_asyncio.fixture
    async def through(
        self, proxy: ProviderProxy, infrastructures: Infrastructures
    ) -> AsyncIterator[Infrastructures]:
        """The same user, through the proxy; what is made is deleted afterwards."""
        same = Infrastructures.at(proxy.url, dummy_record(), user=infrastructures.user)
        async with same as found:
            yield found

    async def test_answer_is_lost_after_the_infrastructure_was_made(
        self, proxy: ProviderProxy, through: Infrastructures, infrastructures: Infrastructures
    ) -> None:
        fault = proxy.inject(Fault(FaultKind.LOSE_ANSWER, when=is_create, times=1))
        with pytest.raises(ClientError):
            await through.create(TEMPLATE)
        assert fault.applied.is_set()
        assert proxy.creates == 1
        [id] = await infrastructures.ids()
        await through.until(id, "configured")

    async def test_answer_comes_late(
        self, proxy: ProviderProxy, through: Infrastructures, infrastructures: Infrastructures
    ) -> None:
        fault = proxy.inject(Fault(FaultKind.LATE_ANSWER, when=is_create))
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(through.create(TEMPLATE))
            await fault.applied.wait()
            made = await infrastructures.ids()
            assert not asked.done()
            fault.release.set()
        assert [asked.result()] == made
        assert made[0] in (await through.ids())

    async def test_dry_runs_are_not_counted(
        self, proxy: ProviderProxy, through: Infrastructures
    ) -> None:
        assert (await through.dry_run(TEMPLATE)).status == 200
        assert proxy.creates == 0
