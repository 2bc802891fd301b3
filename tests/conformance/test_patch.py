"""Patches: what each form makes of an object, and which are refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from conformance.kinds import DEPLOYMENT, LEASE
from conformance.target import STRATEGIC, Target, causes
from unit.cluster.api import JSON_PATCH, MERGE, JsonObject, config_map

DATA = {"a": "1", "b": "2"}
REFUSED = "the server rejected our request due to an error in our request"


async def patched(target: Target, *operations: JsonObject, code: int = 200) -> JsonObject:
    await target.create(target.path("configmaps"), config_map("a", DATA))
    return await target.patch(target.path("configmaps", "a"), *operations, code=code)


@pytest.mark.parametrize(
    ("operation", "data"),
    [
        ({"op": "add", "path": "/data/c", "value": "3"}, {**DATA, "c": "3"}),
        ({"op": "add", "path": "/data/a", "value": "3"}, {**DATA, "a": "3"}),
        ({"op": "replace", "path": "/data/a", "value": "3"}, {**DATA, "a": "3"}),
        ({"op": "remove", "path": "/data/a"}, {"b": "2"}),
        ({"op": "move", "from": "/data/a", "path": "/data/c"}, {"b": "2", "c": "1"}),
        ({"op": "copy", "from": "/data/a", "path": "/data/c"}, {**DATA, "c": "1"}),
        ({"op": "test", "path": "/data/a", "value": "1"}, DATA),
        ({"op": "test", "path": "/data/no", "value": None}, DATA),
        ({"op": "replace", "path": "/data/no", "value": "3"}, {**DATA, "no": "3"}),
    ],
    ids=lambda value: f"{value['op']} {value['path']}" if "op" in value else "",
)
async def test_json_patch(target: Target, operation: JsonObject, data: dict[str, str]) -> None:
    assert (await patched(target, operation))["data"] == data


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/data/no"},
        {"op": "test", "path": "/data/a", "value": "9"},
        {"op": "replace", "path": "/no/no", "value": "3"},
        {"op": "add", "path": "/metadata/finalizers/7", "value": "a.b/c"},
        {"op": "move", "from": "/data/no", "path": "/data/c"},
    ],
    ids=lambda value: f"{value['op']} {value['path']}",
)
async def test_json_patches_that_fail(target: Target, operation: JsonObject) -> None:
    refused = await patched(target, operation, code=422)
    assert (refused["reason"], refused["message"]) == ("Invalid", REFUSED)


async def test_an_empty_json_patch_changes_nothing(target: Target) -> None:
    assert (await patched(target))["data"] == DATA


async def test_positions_of_a_list(target: Target) -> None:
    path = target.path("configmaps", "a")
    body = config_map("a", finalizers=["a.b/1", "a.b/2"])
    await target.create(target.path("configmaps"), body)
    last = {"op": "add", "path": "/metadata/finalizers/-", "value": "a.b/3"}
    first = {"op": "add", "path": "/metadata/finalizers/0", "value": "a.b/0"}
    gone = {"op": "remove", "path": "/metadata/finalizers/1"}
    found = await target.patch(path, last, first, gone)
    assert found["metadata"]["finalizers"] == ["a.b/0", "a.b/2", "a.b/3"]


async def test_merge_patch(target: Target) -> None:
    await target.create(target.path("configmaps"), config_map("a", DATA))
    path = target.path("configmaps", "a")
    assert (await target.merge(path, {"data": {"a": None, "c": "3"}}))["data"] == {
        "b": "2",
        "c": "3",
    }
    assert "data" not in await target.merge(path, {"data": None})


async def test_a_merge_patch_may_be_locked(target: Target) -> None:
    made = await target.create(target.path("configmaps"), config_map("a", DATA))
    path, locked = target.path("configmaps", "a"), made["metadata"]["resourceVersion"]
    await target.merge(path, {"metadata": {"resourceVersion": locked}, "data": {"a": "2"}})
    stale = {"metadata": {"resourceVersion": locked}, "data": {"a": "3"}}
    assert (await target.merge(path, stale, code=409))["reason"] == "Conflict"


async def test_who_an_object_is_cannot_be_patched(target: Target) -> None:
    made = await target.create(target.path("configmaps"), config_map("a", DATA))
    path = target.path("configmaps", "a")
    other = "00000000-0000-0000-0000-000000000001"
    refused = await target.merge(path, {"metadata": {"uid": other}}, code=422)
    assert set(causes(refused)) == {("metadata.uid", "FieldValueInvalid")}
    await target.merge(path, {"metadata": {"name": "b"}}, code=400)
    found = await target.merge(path, {"metadata": {"creationTimestamp": None}})
    assert found["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]


async def test_strategic_merge_tells_items_apart(target: Target) -> None:
    await target.create(DEPLOYMENT.path(target), DEPLOYMENT.object("a"))
    containers: list[JsonObject] = [
        {"name": "main", "env": [{"name": "A", "value": "1"}]},
        {"name": "side", "image": "side:1"},
    ]
    path = DEPLOYMENT.path(target, "a")
    spec = {"spec": {"template": {"spec": {"containers": containers}}}}
    found = (await target.strategic(path, spec))["spec"]["template"]["spec"]["containers"]
    images = {container["name"]: container["image"] for container in found}
    assert images == {"main": "image:1", "side": "side:1"}
    gone = [{"name": "side", "$patch": "delete"}]
    spec = {"spec": {"template": {"spec": {"containers": gone}}}}
    found = (await target.strategic(path, spec))["spec"]["template"]["spec"]["containers"]
    assert [container["name"] for container in found] == ["main"]
    assert found[0]["env"] == [{"name": "A", "value": "1"}]


@pytest.mark.parametrize(
    ("media", "body", "code"),
    [
        (JSON_PATCH, b"{}", 400),
        (JSON_PATCH, b"no", 400),
        (MERGE, b"no", 400),
        (MERGE, b"[]", 400),
        (STRATEGIC, b"no", 400),
        (MERGE, b'{"data": 7}', 422),
        (MERGE, b'{"data": {"a": 7}}', 422),
        (JSON_PATCH, b'[{"op": "replace", "path": "/data", "value": 7}]', 422),
        ("application/unknown", b"{}", 415),
    ],
    ids=lambda value: value.decode() if isinstance(value, bytes) else str(value).split("/")[-1],
)
async def test_senseless_patches_are_refused(
    target: Target, media: str, body: bytes, code: int
) -> None:
    await target.create(target.path("configmaps"), config_map("a", DATA))
    await target.ask("PATCH", target.path("configmaps", "a"), body, code, media=media)


async def test_concurrent_patches_all_land(target: Target) -> None:
    path = target.path("configmaps", "a")
    await target.create(target.path("configmaps"), config_map("a"))

    async def add(at: int) -> None:
        await target.merge(path, {"data": {f"k{at}": "v"}})

    # A real server gives up after some conflicts with itself: not more at a time than it bears.
    for start in range(0, 100, 4):
        await asyncio.gather(*(add(at) for at in range(start, start + 4)))
    assert len((await target.get(path))["data"]) == 100


@pytest.mark.parametrize("media", [MERGE, STRATEGIC, JSON_PATCH])
async def test_a_patch_creates_nothing(target: Target, media: str) -> None:
    body: Any = [] if media == JSON_PATCH else {}
    for path in (target.path("configmaps", "no"), LEASE.path(target, "no")):
        answer = await target.ask("PATCH", path, body, 404, media=media)
        assert answer["reason"] == "NotFound"
