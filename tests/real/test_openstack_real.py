"""A whole life of a cluster: IM's OpenStack connector, a small OpenStack, a real `quintant up`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from time import monotonic

import pytest_asyncio

from infrastructure_manager import InfrastructureManager
from quintant import Client, Config
from quintant.api.core import Node
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from testbeds.infrastructures import (
    Infrastructures,
    InfrastructureState,
    eventually,
    openstack_template,
)
from testbeds.openstack import OpenStack

PASSWORD = "of;the='cloud\""


@pytest_asyncio.fixture
async def cloud(tmp_path: Path) -> AsyncIterator[OpenStack]:
    async with OpenStack.serve(tmp_path, password=PASSWORD) as cloud:
        yield cloud


@pytest_asyncio.fixture
async def infrastructures(
    dummy_manager: InfrastructureManager, cloud: OpenStack
) -> AsyncIterator[Infrastructures]:
    async with Infrastructures.at(dummy_manager.url, cloud.record("ost")) as found:
        yield found
        for id in await found.ids():
            await found.destroy(id)


async def test_cluster_is_made_used_scaled_and_deleted(
    cloud: OpenStack, infrastructures: Infrastructures, tmp_path: Path
) -> None:
    began = monotonic()
    id = await infrastructures.create(openstack_template(cloud.seed.parts, workers=1))
    found = await infrastructures.until(id, "configured")
    configured = monotonic() - began
    assert len(found.machines) == len(cloud.servers) == 2
    calls, logins = len(cloud.calls), len(cloud.logins)

    way = tmp_path / "kubeconfig"
    way.write_text((await infrastructures.outputs(id))["kubeconfig"])
    [machine] = cloud.machines.values()
    assert machine.address in way.read_text()
    await machine.ready()
    await eventually(lambda: _nodes_ready(way, 2))
    usable = monotonic() - began
    pid = machine.pid

    for workers in (3, 1):
        template = openstack_template(cloud.seed.parts, workers=workers)
        assert (await infrastructures.update(id, template)).status == 200
        assert len(cloud.servers) == workers + 1
        await eventually(partial(_nodes_ready, way, workers + 1))

    await infrastructures.destroy(id)
    assert (cloud.servers, cloud.groups, cloud.machines) == ({}, {}, {})

    async def ended() -> bool:
        return not _runs(pid)

    await eventually(ended)
    print(f"configured {configured:.1f} s, usable {usable:.1f} s, {calls} calls, {logins} logins")


async def test_servers_leak_if_an_infrastructure_is_deleted_before_any_is_listed(
    cloud: OpenStack, infrastructures: Infrastructures
) -> None:
    cloud.faults.slow = 1
    id = await infrastructures.create(openstack_template(cloud.seed.parts))
    assert await infrastructures.state(id) == InfrastructureState("pending", {})
    assert (await infrastructures.delete(id)).status == 200

    async def leaked() -> bool:
        return bool(cloud.servers) and await infrastructures.ids() == []

    await eventually(leaked)
    assert [each["name"].startswith(f"im-{id}") for each in cloud.groups.values()] == [True]


async def test_nothing_leaks_if_a_deletion_waits_until_a_machine_is_listed(
    cloud: OpenStack, infrastructures: Infrastructures
) -> None:
    cloud.faults.slow = cloud.faults.launch = 1
    id = await infrastructures.create(openstack_template(cloud.seed.parts, workers=3))
    await infrastructures.destroy(id)
    assert (cloud.servers, cloud.groups) == ({}, {})


async def test_domains_of_user_and_project_arrive_as_they_were_written(
    dummy_manager: InfrastructureManager, cloud: OpenStack
) -> None:
    record = cloud.record("ost", domain="people", tenant_domain_id="projects")
    async with Infrastructures.at(dummy_manager.url, record) as found:
        assert (await found.ask("GET", "/clouds/ost/images")).status == 200
    login = cloud.logins[-1]
    assert (login.user, login.project) == ("user", "project")
    assert login.user_domain == {"name": "people"}
    assert login.project_domain == {"id": "projects"}


async def test_wrong_password_is_told_by_a_dry_run_and_makes_nothing(
    dummy_manager: InfrastructureManager, cloud: OpenStack
) -> None:
    record = cloud.record("ost", password="wrong")
    async with Infrastructures.at(dummy_manager.url, record) as found:
        answer = await found.dry_run(openstack_template(cloud.seed.parts))
        assert answer.status == 400
        assert "credentials" in answer.text
        assert await found.ids() == []
        assert (await found.ask("GET", "/clouds/ost/images")).status == 400
    assert not any(login.accepted for login in cloud.logins)


async def test_quota_is_told_in_the_log_of_the_infrastructure(
    cloud: OpenStack, infrastructures: Infrastructures
) -> None:
    cloud.faults.quota = 1
    cloud.servers["other"] = {"id": "other", "name": "of somebody else"}
    id = await infrastructures.create(openstack_template(cloud.seed.parts))

    async def told() -> bool:
        answer = await infrastructures.ask("GET", f"/infrastructures/{id}/contmsg")
        return "Quota exceeded" in answer.text

    await infrastructures.until(id, "failed")
    await eventually(told)
    assert list(cloud.servers) == ["other"]


async def test_server_that_vanishes_is_noticed(
    cloud: OpenStack, infrastructures: Infrastructures
) -> None:
    id = await infrastructures.create(openstack_template(cloud.seed.parts))
    await infrastructures.until(id, "configured")
    [server] = cloud.servers
    await cloud.vanish(server)
    await infrastructures.until(id, "unknown")


async def test_server_that_stops_is_noticed(
    cloud: OpenStack, infrastructures: Infrastructures
) -> None:
    id = await infrastructures.create(openstack_template(cloud.seed.parts))
    await infrastructures.until(id, "configured")
    [server] = cloud.servers
    cloud.set_status(server, "SHUTOFF")
    await infrastructures.until(id, "stopped")
    cloud.set_status(server, "ACTIVE")
    await infrastructures.until(id, "configured")


async def _nodes_ready(way: Path, count: int) -> bool:
    transport = HttpTransport(Config.load(way))
    try:
        nodes = await Client(Rest(transport), manager="tests").list(Node, live=True)
    finally:
        await transport.close()
    return sum(_ready(node) for node in nodes) == count


def _ready(node: Node) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in node.status.conditions)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
