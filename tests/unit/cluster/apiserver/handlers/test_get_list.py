from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

from quintant.cluster.apiserver.handlers.get_list import SLICE
from unit.cluster.api import (
    CMS,
    CRDS,
    FOOS,
    Api,
    JsonObject,
    api,
    config_map,
    foo,
    foo_definition,
)

ALL = "/api/v1/configmaps"
PARTIAL = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"


async def filled(count: int) -> Api:
    client = api()
    for number in range(count):
        labels = {"even": "yes" if number % 2 == 0 else "no"}
        await client.create(CMS, config_map(f"c{number:04}", labels=labels))
    return client


async def test_an_empty_list_is_a_list() -> None:
    listed = await api().get(CMS)
    assert listed["items"] == []
    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")


async def test_lists_are_ordered_by_namespace_and_name_as_paths_are() -> None:
    client = api()
    for namespace in ("a", "a-b"):
        await client.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        await client.create(f"/api/v1/namespaces/{namespace}/configmaps", config_map("x"))
    await client.create("/api/v1/namespaces/a/configmaps", config_map("b"))
    found = (await client.get(ALL))["items"]
    places = [(item["metadata"]["namespace"], item["metadata"]["name"]) for item in found]
    assert places == [("a-b", "x"), ("a", "b"), ("a", "x")]


async def test_items_of_built_in_kinds_do_not_repeat_their_kind_and_custom_ones_do() -> None:
    client = await filled(1)
    assert "kind" not in (await client.get(CMS))["items"][0]
    await client.create(CRDS, foo_definition())
    await client.create(FOOS, foo("a"))
    assert (await client.get(FOOS))["items"][0]["kind"] == "Foo"


async def test_pages_are_one_consistent_list() -> None:
    client = await filled(25)
    first = await client.get(CMS, limit="10")
    assert first["metadata"]["remainingItemCount"] == 15
    await client.delete(f"{CMS}/c0015")
    await client.create(CMS, config_map("c0011a"))
    second = await client.get(CMS, limit="10", **{"continue": first["metadata"]["continue"]})
    third = await client.get(CMS, limit="10", **{"continue": second["metadata"]["continue"]})
    names = [item["metadata"]["name"] for page in (first, second, third) for item in page["items"]]
    assert names == [f"c{number:04}" for number in range(25)]
    versions = {page["metadata"]["resourceVersion"] for page in (first, second, third)}
    assert len(versions) == 1
    assert "continue" not in third["metadata"]


async def test_pages_of_a_selection_are_full_and_do_not_count_the_rest() -> None:
    client = await filled(25)
    page = await client.get(CMS, limit="10", labelSelector="even=yes")
    assert len(page["items"]) == 10
    assert "remainingItemCount" not in page["metadata"]
    rest = await client.get(
        CMS, limit="10", labelSelector="even=yes", **{"continue": page["metadata"]["continue"]}
    )
    assert len(rest["items"]) == 3


async def test_a_continued_list_survives_compaction_with_a_fresh_token() -> None:
    client = await filled(5)
    page = await client.get(CMS, limit="2")
    await client.create(CMS, config_map("c9"))
    client.server.compact()
    expired = await client.get(CMS, code=410, **{"continue": page["metadata"]["continue"]})
    assert expired["reason"] == "Expired"
    rest = await client.get(CMS, **{"continue": expired["metadata"]["continue"]})
    names = [item["metadata"]["name"] for item in rest["items"]]
    assert names == ["c0002", "c0003", "c0004", "c9"]


async def test_the_past_can_be_listed_exactly() -> None:
    client = await filled(2)
    then = (await client.get(CMS))["metadata"]["resourceVersion"]
    await client.merge(f"{CMS}/c0000", {"data": {"k": "v"}})
    await client.delete(f"{CMS}/c0001")
    past = await client.get(CMS, resourceVersion=then, resourceVersionMatch="Exact")
    assert past["metadata"]["resourceVersion"] == then
    assert [item.get("data") for item in past["items"]] == [None, None]
    legacy = await client.get(CMS, resourceVersion=then, limit="10")
    assert legacy["items"] == past["items"]
    now = await client.get(CMS, resourceVersion=then)
    assert [item["data"] for item in now["items"]] == [{"k": "v"}]


async def test_the_forgotten_past_is_expired() -> None:
    client = await filled(2)
    client.server.compact()
    expired = await client.get(CMS, code=410, resourceVersion="1", resourceVersionMatch="Exact")
    assert expired["message"] == "The resourceVersion for the provided list is too old."


async def test_any_version_ignores_the_limit() -> None:
    client = await filled(3)
    listed = await client.get(CMS, resourceVersion="0", limit="1")
    assert len(listed["items"]) == 3
    assert "continue" not in listed["metadata"]


async def test_the_future_times_out_at_once() -> None:
    reply = await api().send("GET", CMS, resourceVersion="99999")
    status = msgspec.json.decode(reply.body)
    assert (reply.status, reply.headers["retry-after"]) == (504, "1")
    assert status["reason"] == "Timeout"
    assert status["message"].startswith("Timeout: Too large resource version: 99999, current: ")
    assert status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"resourceVersion": "x"}, 400),
        ({"resourceVersionMatch": "Exact"}, 422),
        ({"resourceVersionMatch": "Exact", "resourceVersion": "0"}, 422),
        ({"resourceVersionMatch": "Nearly", "resourceVersion": "1"}, 422),
        ({"sendInitialEvents": "true"}, 422),
        ({"limit": "x"}, 400),
        ({"continue": "x"}, 400),
        ({"continue": base64.b64encode(b'{"v":"v2","rv":1,"start":"a"}').decode()}, 400),
        ({"fieldSelector": "data.k=v"}, 400),
        ({"labelSelector": "a in b"}, 400),
        ({"watch": "1", "resourceVersion": "x"}, 500),
        ({"watch": "1", "sendInitialEvents": "true"}, 422),
        ({"watch": "1", "resourceVersionMatch": "NotOlderThan"}, 422),
    ],
)
async def test_contradictory_options_are_refused(query: JsonObject, code: int) -> None:
    await api().get(CMS, code=code, **query)


async def test_an_unreadable_version_of_a_get_is_an_unexplained_error() -> None:
    client = await filled(1)
    refused = await client.get(f"{CMS}/c0000", code=500, resourceVersion="x")
    assert "reason" not in refused


async def test_custom_resources_are_selected_by_the_fields_they_name() -> None:
    client = api()
    selectable = [{"jsonPath": ".spec.size"}]
    await client.create(CRDS, foo_definition(selectableFields=selectable))
    await client.create(FOOS, foo("a", {"size": 1}))
    await client.create(FOOS, foo("b", {"size": 2}))
    assert await client.names(FOOS, fieldSelector="spec.size=2") == ["b"]


async def test_metadata_can_be_read_alone() -> None:
    client = api()
    await client.create(CMS, config_map("a", {"k": "v"}))
    one = await client.get(f"{CMS}/a", headers={"accept": PARTIAL.format("")})
    assert set(one) == {"kind", "apiVersion", "metadata"}
    assert (one["kind"], one["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    listed = await client.get(CMS, headers={"accept": PARTIAL.format("List")})
    assert listed["kind"] == "PartialObjectMetadataList"
    assert [item["kind"] for item in listed["items"]] == ["PartialObjectMetadata"]
    await client.get(CMS, code=406, headers={"accept": PARTIAL.format("")})


@pytest.mark.parametrize(
    ("accept", "code"),
    [
        ("application/json", 200),
        ("application/vnd.kubernetes.protobuf, application/json", 200),
        ("application/json;as=Table;v=v1;g=meta.k8s.io, application/json", 200),
        ("text/csv", 406),
        ("application/json;as=Nonsense;v=v1;g=meta.k8s.io", 406),
        ("text/csv;q=0.9, */*;q=0.1", 200),
    ],
)
async def test_answers_take_a_form_the_client_accepts(accept: str, code: int) -> None:
    await api().get(CMS, code=code, headers={"accept": accept})


async def test_a_long_list_lets_others_work_in_between() -> None:
    import asyncio

    client = await filled(SLICE * 3)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(others())
        listed: dict[str, Any] = await client.get(CMS)
        task.cancel()
    assert len(listed["items"]) == SLICE * 3
    assert turns >= 3
