"""Quotas count what a namespace uses, and let nothing in that there is no room for."""

from __future__ import annotations

from typing import Any

from unit.cluster.api import CMS, PODS, Api, JsonObject, api, config_map, server

QUOTAS = "/api/v1/namespaces/default/resourcequotas"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
SERVICES = "/api/v1/namespaces/default/services"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"


async def managed() -> Api:
    """A server as it is beside controllers, with what they make for pods."""
    client = Api(server(managed=True))
    await client.create(ACCOUNTS, {"metadata": {"name": "default"}})
    return client


def pod(name: str, /, requests: JsonObject | None = None, **spec: Any) -> JsonObject:
    resources = {"resources": {"requests": requests}} if requests else {}
    container = {"name": "c", "image": "i", **resources}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


async def quota(client: Api, name: str = "q", **spec: Any) -> JsonObject:
    await client.create(QUOTAS, {"metadata": {"name": name}, "spec": spec})
    return await status(client, name)


async def status(client: Api, name: str = "q") -> JsonObject:
    found: JsonObject = (await client.get(f"{QUOTAS}/{name}"))["status"]
    return found


async def test_a_new_quota_says_what_is_used_already() -> None:
    client = await managed()
    await client.create(PODS, pod("a", {"cpu": "500m"}))
    hard = {"pods": "2", "requests.cpu": "1"}
    assert await quota(client, hard=hard) == {
        "hard": hard,
        "used": {"pods": "1", "requests.cpu": "500m"},
    }


async def test_what_comes_and_goes_is_counted() -> None:
    client = await managed()
    await quota(client, hard={"configmaps": "5", "count/configmaps": "5"})
    await client.create(CMS, config_map("a"))
    assert (await status(client))["used"] == {"configmaps": "1", "count/configmaps": "1"}
    await client.delete(f"{CMS}/a")
    assert (await status(client))["used"] == {"configmaps": "0", "count/configmaps": "0"}


async def test_what_is_too_much_is_refused() -> None:
    client = await managed()
    await quota(client, hard={"pods": "1", "requests.cpu": "1"})
    await client.create(PODS, pod("a", {"cpu": "600m"}))
    told = await client.create(PODS, pod("b", {"cpu": "500m"}), code=403)
    assert told["message"] == (
        'pods "b" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=500m, '
        "used: pods=1,requests.cpu=600m, limited: pods=1,requests.cpu=1"
    )


async def test_a_pod_that_has_ended_takes_nothing_but_its_place() -> None:
    client = await managed()
    await quota(client, hard={"pods": "1", "count/pods": "2"})
    await client.create(PODS, pod("a"))
    await client.merge(f"{PODS}/a/status", {"status": {"phase": "Succeeded"}})
    assert (await status(client))["used"] == {"pods": "0", "count/pods": "1"}
    await client.create(PODS, pod("b"))
    assert "count/pods=2" in (await client.create(PODS, pod("c"), code=403))["message"]


async def test_who_is_limited_has_to_say_what_it_needs() -> None:
    client = await managed()
    await quota(client, hard={"limits.memory": "1Gi", "requests.cpu": "1"})
    told = await client.create(PODS, pod("a"), code=403)
    assert told["message"] == (
        'pods "a" is forbidden: failed quota: q: must specify limits.memory for: c; '
        "requests.cpu for: c"
    )


async def test_a_scope_is_about_some_pods() -> None:
    client = await managed()
    await quota(client, hard={"pods": "0"}, scopes=["BestEffort"])
    await client.create(PODS, pod("a", {"cpu": "1"}))
    told = await client.create(PODS, pod("b"), code=403)
    assert "exceeded quota: q" in told["message"]
    await client.create(CMS, config_map("a"))


async def test_a_claim_may_not_grow_beyond_what_is_left() -> None:
    client = await managed()
    await quota(client, hard={"requests.storage": "2Gi"})
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources}
    await client.create(CLAIMS, {"metadata": {"name": "a"}, "spec": spec})
    assert (await status(client))["used"] == {"requests.storage": "1Gi"}
    told = await client.create(CLAIMS, {"metadata": {"name": "b"}, "spec": {
        **spec, "resources": {"requests": {"storage": "1536Mi"}}}}, code=403)  # fmt: skip
    assert told["message"].endswith(
        "requested: requests.storage=1536Mi, used: requests.storage=1Gi, "
        "limited: requests.storage=2Gi"
    )


async def test_ports_of_services_are_counted_when_the_type_changes() -> None:
    client = await managed()
    await quota(client, hard={"services.nodeports": "1"})
    spec = {"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}
    await client.create(SERVICES, {"metadata": {"name": "a"}, "spec": spec})
    told = await client.merge(f"{SERVICES}/a", {"spec": {"type": "NodePort"}}, code=403)
    assert "requested: services.nodeports=2, used: services.nodeports=0" in told["message"]


async def test_other_namespaces_have_room() -> None:
    client = await managed()
    await quota(client, hard={"configmaps": "0"})
    await client.create("/api/v1/namespaces/kube-public/configmaps", config_map("a"))


async def test_at_rest_nothing_is_written() -> None:
    client = await managed()
    await quota(client, hard={"pods": "1"})
    before = (await client.get(QUOTAS))["items"][0]["metadata"]["resourceVersion"]
    await client.create(CMS, config_map("a"))
    assert (await client.get(QUOTAS))["items"][0]["metadata"]["resourceVersion"] == before


async def test_without_controllers_nobody_counts() -> None:
    client = api()
    await client.create(QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}})
    await client.create(PODS, pod("a"))
    assert (await client.get(f"{QUOTAS}/q"))["status"] == {}
