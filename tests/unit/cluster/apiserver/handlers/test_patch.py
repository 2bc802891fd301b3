"""Every sort of patch, as an edit of the live object."""

from __future__ import annotations

import pytest

from unit.cluster.api import CMS, JSON_PATCH, MERGE, Api, JsonObject, api, config_map

STRATEGIC = "application/strategic-merge-patch+json"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
PATCHES = {
    MERGE: {"data": {"k": "v"}},
    STRATEGIC: {"data": {"k": "v"}},
    JSON_PATCH: [{"op": "add", "path": "/data", "value": {"k": "v"}}],
}


@pytest.mark.parametrize("media", PATCHES)
async def test_a_patch_edits_the_live_object_as_its_media_type_says(media: str) -> None:
    client = api()
    await client.create(CMS, config_map("a", labels={"x": "y"}))
    patched = await client.ask("PATCH", f"{CMS}/a", PATCHES[media], 200, media=media)
    assert patched["data"] == {"k": "v"}
    assert patched["metadata"]["labels"] == {"x": "y"}


@pytest.mark.parametrize(("media", "images"), [(MERGE, ["new"]), (STRATEGIC, ["new", "old"])])
async def test_only_a_strategic_patch_knows_lists(media: str, images: list[str]) -> None:
    client = await deployed()
    added = {"containers": [{"name": "new", "image": "new"}]}
    patch = {"spec": {"template": {"spec": added}}}
    patched = await client.ask("PATCH", f"{DEPLOYMENTS}/a", patch, 200, media=media)
    found = patched["spec"]["template"]["spec"]["containers"]
    assert [each["image"] for each in found] == images


@pytest.mark.parametrize(
    ("media", "patch"),
    [
        (MERGE, {"spec": {"replicas": 3, "paused": True}}),
        (STRATEGIC, {"spec": {"replicas": 3, "paused": True}}),
        (
            JSON_PATCH,
            [
                {"op": "replace", "path": "/spec/replicas", "value": 3},
                {"op": "add", "path": "/spec/paused", "value": True},
            ],
        ),
    ],
)
async def test_a_patch_of_a_scale_edits_no_more_than_how_many_there_are(
    media: str, patch: object
) -> None:
    client, path = await deployed(), f"{DEPLOYMENTS}/a"
    scale = await client.ask("PATCH", f"{path}/scale", patch, 200, media=media)
    assert (scale["kind"], scale["spec"]) == ("Scale", {"replicas": 3})
    spec = (await client.get(path))["spec"]
    assert (spec["replicas"], spec.get("paused")) == (3, None)


async def deployed() -> Api:
    client, labels = api(), {"app": "a"}
    pods: JsonObject = {"containers": [{"name": "old", "image": "old"}]}
    template = {"metadata": {"labels": labels}, "spec": pods}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    await client.create(DEPLOYMENTS, {"metadata": {"name": "a"}, "spec": spec})
    return client


@pytest.mark.parametrize("media", ["application/vnd.kubernetes.protobuf", "text/plain", ""])
async def test_other_patches_are_not_supported(media: str) -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    await client.ask("PATCH", f"{CMS}/a", {}, 415, media=media)


async def test_a_patch_needs_something_to_patch() -> None:
    assert (await api().merge(f"{CMS}/a", {}, code=404))["message"] == 'configmaps "a" not found'
