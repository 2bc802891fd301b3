"""A write that waits for webhooks never overwrites what came in between."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import CMS, Api, JsonObject
from unit.cluster.stub_webhooks import StubDialer, allow, deny, install, rule

SERVICES = "/api/v1/namespaces/default/services"


class Gate:
    """Holds the first review until it is opened; the others pass."""

    def __init__(self) -> None:
        self.reached, self.open = asyncio.Event(), asyncio.Event()

    async def __call__(self, request: JsonObject) -> JsonObject:
        if not self.reached.is_set():
            self.reached.set()
            await self.open.wait()
        return allow(request)


@pytest.fixture
def dialer() -> StubDialer:
    return StubDialer()


@pytest.fixture
async def api(dialer: StubDialer) -> Api:
    return Api(ApiServer(dialer=dialer))


async def overtaken(api: Api, slow: Any, fast: Any, gate: Gate) -> Any:
    """What becomes of a slow request while a fast one overtakes it."""
    async with asyncio.TaskGroup() as group:
        first = group.create_task(slow)
        await gate.reached.wait()
        await fast
        gate.open.set()
    return first.result()


@pytest.fixture(params=["mutating", "validating"])
async def gate(request: pytest.FixtureRequest, api: Api, dialer: StubDialer) -> Gate:
    found = Gate()
    rules = rule("configmaps services")
    await api.create(CMS, {"metadata": {"name": "a"}, "data": {"x": "0"}})
    await install(api, dialer, request.param, "gate", found, rules)
    return found


async def test_a_patch_is_made_again(api: Api, gate: Gate) -> None:
    path = f"{CMS}/a"
    slow = api.merge(path, {"data": {"slow": "1"}})
    await overtaken(api, slow, api.merge(path, {"data": {"fast": "1"}}), gate)
    assert (await api.get(path))["data"] == {"x": "0", "slow": "1", "fast": "1"}


async def test_a_put_for_the_old_state_is_refused(api: Api, gate: Gate) -> None:
    path = f"{CMS}/a"
    found = await api.get(path)
    slow = api.put(path, {**found, "data": {"slow": "1"}}, code=409)
    await overtaken(api, slow, api.merge(path, {"data": {"fast": "1"}}), gate)
    assert (await api.get(path))["data"] == {"x": "0", "fast": "1"}


async def test_a_put_for_any_state_comes_last(api: Api, gate: Gate) -> None:
    path = f"{CMS}/a"
    slow = api.put(path, {"metadata": {"name": "a"}, "data": {"slow": "1"}})
    await overtaken(api, slow, api.merge(path, {"data": {"fast": "1"}}), gate)
    assert (await api.get(path))["data"] == {"slow": "1"}


async def test_an_apply_sees_what_came_in_between(api: Api, gate: Gate) -> None:
    path = f"{CMS}/a"
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    slow = api.apply(path, {**config, "data": {"slow": "1"}}, "slow")
    fast = api.apply(path, {**config, "data": {"fast": "1"}}, "fast")
    await overtaken(api, slow, fast, gate)
    assert (await api.get(path))["data"] == {"x": "0", "slow": "1", "fast": "1"}


async def test_a_name_that_is_taken_meanwhile_is_a_conflict(api: Api, gate: Gate) -> None:
    body = {"metadata": {"name": "b"}, "data": {"slow": "1"}}
    slow = api.create(CMS, body, code=409)
    await overtaken(api, slow, api.create(CMS, {**body, "data": {"fast": "1"}}), gate)
    assert (await api.get(f"{CMS}/b"))["data"] == {"fast": "1"}


async def test_an_object_that_is_gone_meanwhile_is_not_brought_back(api: Api, gate: Gate) -> None:
    path = f"{CMS}/a"
    slow = api.merge(path, {"data": {"slow": "1"}}, code=404)
    await overtaken(api, slow, api.delete(path), gate)
    assert await api.names(CMS) == []


async def test_a_deletion_asks_again_about_what_changed(
    api: Api, gate: Gate, dialer: StubDialer
) -> None:
    path = f"{CMS}/a"
    await overtaken(api, api.delete(path), api.merge(path, {"data": {"x": "1"}}), gate)
    assert await api.names(CMS) == []
    assert dialer.asked["gate"][-1]["oldObject"]["data"] == {"x": "1"}


async def test_two_services_never_get_one_address(api: Api, gate: Gate) -> None:
    """The address is chosen before validating webhooks see the service."""
    wanted = {"spec": {"ports": [{"port": 80}], "clusterIP": "127.96.5.5"}}
    probe = {"metadata": {"name": "slow"}, "spec": {"ports": [{"port": 80}]}}
    rehearsed = api.create(SERVICES, probe, dryRun="All")
    gate.open.set()
    address = (await rehearsed)["spec"]["clusterIP"]
    gate.reached.clear()
    gate.open.clear()
    taken = {"metadata": {"name": "fast"}, "spec": {**wanted["spec"], "clusterIP": address}}
    slow = api.create(SERVICES, probe)
    made = await overtaken(api, slow, api.create(SERVICES, taken), gate)
    assert made["spec"]["clusterIP"] != address


async def test_writes_that_concern_no_webhook_do_not_wait(api: Api, gate: Gate) -> None:
    slow = asyncio.ensure_future(api.merge(f"{CMS}/a", {"data": {"slow": "1"}}))
    await gate.reached.wait()
    turns = asyncio.get_running_loop().time()
    await api.create(
        "/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}, "stringData": {}}
    )
    assert asyncio.get_running_loop().time() == turns
    gate.open.set()
    await slow


SECRETS = "/api/v1/namespaces/default/secrets"
QUOTAS = "/api/v1/namespaces/default/resourcequotas"


@pytest.fixture
async def full(dialer: StubDialer) -> Api:
    """A server whose namespace has room for one secret."""
    api = Api(ApiServer(dialer=dialer, managed=True))
    await api.create(QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": {"secrets": "1"}}})
    return api


async def test_of_two_writes_that_wait_only_one_takes_the_last_room(
    full: Api, dialer: StubDialer
) -> None:
    gate = Gate()
    await install(full, dialer, "validating", "gate", gate, rule("secrets"))
    slow = full.create(SECRETS, {"metadata": {"name": "slow"}}, code=403)
    await overtaken(full, slow, full.create(SECRETS, {"metadata": {"name": "fast"}}), gate)
    assert await full.names(SECRETS) == ["fast"]


async def test_a_validating_webhook_is_asked_before_the_quota(
    full: Api, dialer: StubDialer
) -> None:
    await full.create(SECRETS, {"metadata": {"name": "first"}})
    await install(full, dialer, "validating", "never", deny, rule("secrets"))
    refused = await full.create(SECRETS, {"metadata": {"name": "second"}}, code=403)
    assert refused["message"].endswith("denied the request: no")
