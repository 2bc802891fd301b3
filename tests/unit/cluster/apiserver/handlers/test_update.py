from __future__ import annotations

from unit.cluster.api import (
    CMS,
    CRDS,
    FOOS,
    api,
    config_map,
    foo,
    foo_definition,
)

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


async def test_an_update_is_about_the_object_of_its_url() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    assert (await client.put(f"{CMS}/a", config_map("b"), code=400))["message"] == (
        "the name of the object (b) does not match the name on the URL (a)"
    )
    assert (await client.put(f"{CMS}/a", {"data": {}}, code=400))["message"] == (
        "the name of the object (a based on URL) was undeterminable: name must be provided"
    )
    refused = await client.put(f"{CMS}/a", config_map("a", uid="other"), code=409)
    assert "Precondition failed: UID in precondition: other" in refused["message"]
    refused = await client.merge(f"{CMS}/a", {"metadata": {"uid": "other"}}, code=422)
    assert refused["details"]["causes"][0]["message"].endswith("field is immutable")
    await client.put(f"{CMS}/a", {**config_map("a"), "kind": "Secret"}, code=400)


async def test_only_some_kinds_are_created_by_an_update() -> None:
    client = api()
    await client.put(f"{CMS}/a", config_map("a"), code=404)
    await client.put(f"{LEASES}/a", {"metadata": {"name": "a"}}, code=201)


async def test_some_kinds_insist_on_a_resource_version() -> None:
    client = api()
    await client.create(CRDS, foo_definition())
    await client.create(FOOS, foo("a"))
    refused = await client.put(f"{FOOS}/a", foo("a", {"size": 2}), code=422)
    assert refused["message"] == (
        'foos.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: '
        "must be specified for an update"
    )


async def test_a_scale_that_is_put_changes_no_more_than_how_many_there_are() -> None:
    client, labels = api(), {"app": "a"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    spec = {"selector": {"matchLabels": labels}, "template": template, "paused": True}
    await client.create(DEPLOYMENTS, {"metadata": {"name": "a"}, "spec": spec})
    scale = await client.get(f"{DEPLOYMENTS}/a/scale")
    answer = await client.put(f"{DEPLOYMENTS}/a/scale", {**scale, "spec": {"replicas": 3}})
    assert (answer["kind"], answer["spec"]) == ("Scale", {"replicas": 3})
    changed = (await client.get(f"{DEPLOYMENTS}/a"))["spec"]
    assert (changed["replicas"], changed["paused"]) == (3, True)
