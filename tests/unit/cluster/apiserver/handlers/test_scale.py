"""Who owns the replicas that are written through a scale."""

from __future__ import annotations

from unit.cluster.api import APPLY, Api, JsonObject, api

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
LABELS = {"app": "a"}
POD = {"containers": [{"name": "main", "image": "image"}]}
SPEC: JsonObject = {
    "selector": {"matchLabels": LABELS},
    "template": {"metadata": {"labels": LABELS}, "spec": POD},
}


async def made(**more: object) -> Api:
    client = api()
    deployment = {"metadata": {"name": "a"}, "spec": SPEC | more}
    await client.create(DEPLOYMENTS, deployment, fieldManager="one")
    return client


async def owners(client: Api) -> dict[str, str]:
    """Whoever owns the replicas, and when."""
    found = await client.get(f"{DEPLOYMENTS}/a")
    return {
        entry["manager"]: entry.get("time", "")
        for entry in found["metadata"]["managedFields"]
        if "f:replicas" in entry["fieldsV1"].get("f:spec", {})
    }


def scale(replicas: int) -> JsonObject:
    named = {"metadata": {"name": "a"}}
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        **named,
        "spec": {"replicas": replicas},
    }


async def test_whoever_scales_owns_the_replicas_at_no_time() -> None:
    client = await made(replicas=1)
    assert [*await owners(client)] == ["one"]
    await client.merge(f"{DEPLOYMENTS}/a/scale", {"spec": {"replicas": 2}}, fieldManager="two")
    assert await owners(client) == {"two": ""}


async def test_no_replicas_are_nobodys() -> None:
    client = await made(replicas=1)
    await client.put(f"{DEPLOYMENTS}/a/scale", scale(0), fieldManager="two")
    assert await owners(client) == {}
    assert (await client.get(f"{DEPLOYMENTS}/a/scale"))["spec"] == {}


async def test_a_scale_can_be_applied_and_contested() -> None:
    client = await made(replicas=1)
    path = f"{DEPLOYMENTS}/a/scale"
    refused = await client.apply(path, scale(3), "two", code=409)
    assert 'conflict with "one"' in refused["message"]
    assert (await client.apply(path, scale(3), "two", force="true"))["spec"] == {"replicas": 3}
    assert [*await owners(client)] == ["two"]
    assert (await client.get(f"{DEPLOYMENTS}/a"))["metadata"]["generation"] == 2


async def test_only_a_scale_can_be_applied_to_one() -> None:
    client = await made()
    path = f"{DEPLOYMENTS}/a/scale"
    body = {"apiVersion": "apps/v1", "kind": "Deployment"}
    refused = await client.ask("PATCH", path, body, 400, media=APPLY, fieldManager="two")
    assert refused["message"] == "invalid object type: apps/v1, Kind=Deployment"
    await client.apply(f"{DEPLOYMENTS}/b/scale", scale(1), "two", code=404)


async def test_fewer_than_no_replicas_are_refused() -> None:
    client = await made()
    refused = await client.merge(f"{DEPLOYMENTS}/a/scale", {"spec": {"replicas": -1}}, code=422)
    assert refused["message"].startswith('Scale.autoscaling "a" is invalid: spec.replicas')
