"""Webhooks are asked in order, and their words count."""

from __future__ import annotations

import asyncio

import pytest

from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import CMS, Api, JsonObject
from unit.cluster.stub_webhooks import Answer, StubDialer, allow, deny, install, patch, rule

ALL = rule("configmaps")
CREATE = rule("configmaps", "CREATE")


@pytest.fixture
def dialer() -> StubDialer:
    return StubDialer()


@pytest.fixture
async def api(dialer: StubDialer) -> Api:
    return Api(ApiServer(dialer=dialer))


def config_map(name: str, **data: str) -> JsonObject:
    return {"metadata": {"name": name}, "data": data}


async def test_a_denial_leaves_nothing_behind(api: Api, dialer: StubDialer) -> None:
    await install(api, dialer, "validating", "no", deny, CREATE)
    revision = api.server.store.revision
    told = await api.create(CMS, config_map("a"), code=403)
    assert told["message"] == 'admission webhook "no.hooks.test" denied the request: no'
    assert api.server.store.revision == revision


async def test_validating_webhooks_are_asked_at_once(api: Api, dialer: StubDialer) -> None:
    async def slow(request: JsonObject) -> JsonObject:
        await asyncio.sleep(5.0)
        return allow(request)

    for name in ("one", "two", "three"):
        await install(api, dialer, "validating", name, slow, CREATE)
    before = asyncio.get_running_loop().time()
    await api.create(CMS, config_map("a"))
    assert asyncio.get_running_loop().time() - before == pytest.approx(5.0)


async def test_mutating_webhooks_are_asked_one_after_the_other(
    api: Api, dialer: StubDialer
) -> None:
    def add(word: str) -> Answer:
        def step(request: JsonObject) -> JsonObject:
            seen = request["object"]["data"]["order"]
            change = {"op": "replace", "path": "/data/order", "value": f"{seen}{word}"}
            answer: JsonObject = patch(change)(request)
            return answer

        return step

    for name in ("c", "a", "b"):
        await install(api, dialer, "mutating", name, add(name), CREATE)
    made = await api.create(CMS, config_map("x", order=""))
    assert made["data"] == {"order": "abc"}


async def test_who_waits_longer_than_it_said_is_told_so(api: Api, dialer: StubDialer) -> None:
    async def slow(request: JsonObject) -> JsonObject:
        await asyncio.sleep(5.0)
        return allow(request)

    await install(api, dialer, "validating", "slow", slow, CREATE)
    before = asyncio.get_running_loop().time()
    told = await api.create(CMS, config_map("a"), code=504, timeout="2s")
    assert asyncio.get_running_loop().time() - before == pytest.approx(2.0)
    assert told["reason"] == "Timeout"
    assert await api.names(CMS) == []


async def test_a_time_out_is_a_failure_of_the_webhook(api: Api, dialer: StubDialer) -> None:
    async def never(request: JsonObject) -> JsonObject:
        await asyncio.sleep(3600.0)
        return allow(request)

    await install(api, dialer, "validating", "slow", never, CREATE, timeoutSeconds=2)
    told = await api.create(CMS, config_map("a"), code=500)
    assert told["message"].endswith(
        'Post "https://hooks.test/slow?timeout=2s": context deadline exceeded'
    )


async def test_nobody_is_asked_where_no_rule_says_so(api: Api, dialer: StubDialer) -> None:
    await install(api, dialer, "validating", "other", deny, rule("secrets"))
    await api.create(CMS, config_map("a"))
    assert dialer.told("other") == []


async def test_a_configuration_counts_as_soon_as_it_is_written(
    api: Api, dialer: StubDialer
) -> None:
    path = await install(api, dialer, "validating", "no", deny, CREATE)
    await api.create(CMS, config_map("a"), code=403)
    await api.delete(path)
    await api.create(CMS, config_map("a"))


async def test_restored_configurations_count_again(api: Api, dialer: StubDialer) -> None:
    empty = api.server.snapshot()
    await install(api, dialer, "validating", "no", deny, CREATE)
    full = api.server.snapshot()
    api.server.restore(empty)
    await api.create(CMS, config_map("a"))
    api.server.restore(full)
    await api.create(CMS, config_map("a"), code=403)


async def test_the_server_itself_asks_nobody(api: Api, dialer: StubDialer) -> None:
    everything = {**rule("*/*", "*", "*"), "scope": "*"}
    await install(api, dialer, "validating", "all", deny, everything)
    told = dialer.told("all")
    await api.get("/api/v1/namespaces/default")
    assert dialer.told("all") == told == []


async def test_plugins_finish_what_webhooks_add(api: Api, dialer: StubDialer) -> None:
    """A toleration that a webhook takes away is given back before the second round."""
    nothing = patch({"op": "remove", "path": "/spec/tolerations"})
    await install(api, dialer, "mutating", "a", nothing, rule("pods", "CREATE"))
    seen = patch()
    await install(
        api, dialer, "mutating", "b", seen, rule("pods", "CREATE"), reinvocationPolicy="IfNeeded"
    )
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    made = await api.create("/api/v1/namespaces/default/pods", pod)
    assert len(made["spec"]["tolerations"]) == 2
    first, second = dialer.asked["b"]
    assert "tolerations" not in first["object"]["spec"]
    assert len(second["object"]["spec"]["tolerations"]) == 2
