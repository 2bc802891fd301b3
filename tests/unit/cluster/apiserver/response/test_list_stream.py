"""Large lists: the same document, in pieces."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.response.list_stream import LARGE, PIECE, ListStream
from unit.cluster.api import CMS, Api, api, config_map

MANY = 400
TEXT = "line\n" * 200


@pytest.fixture
async def client() -> Api:
    found = api()
    for number in range(MANY):
        await found.create(CMS, config_map(f"c-{number:03}", {"text": TEXT}))
    return found


async def listed(client: Api, agent: str = "test/1", **query: str) -> ApiResponse | ListStream:
    call = ApiRequest("GET", CMS, query, {"user-agent": agent})
    answer = await client.server.handle(call)
    assert isinstance(answer, ApiResponse | ListStream)
    return answer


async def pieces(client: Api, agent: str = "test/1", **query: str) -> list[bytes]:
    answer = await listed(client, agent, **query)
    assert isinstance(answer, ListStream)
    return [piece async for piece in answer.chunks()]


async def test_a_large_list_comes_in_pieces(client: Api) -> None:
    found = await pieces(client)
    assert len(found) > 5
    assert max(map(len, found)) < PIECE + 2 * len(TEXT) * 2
    document = msgspec.json.decode(b"".join(found))
    assert [item["metadata"]["name"] for item in document["items"]] == [
        f"c-{number:03}" for number in range(MANY)
    ]
    assert document["kind"] == "ConfigMapList"
    assert document["items"][0]["data"] == {"text": TEXT}


async def test_a_small_list_is_one_answer(client: Api) -> None:
    answer = await listed(client, limit="5")
    assert isinstance(answer, ApiResponse)
    assert len(answer.body) < LARGE


async def test_pages_of_a_large_list_are_as_exact_as_small_ones(client: Api) -> None:
    document = msgspec.json.decode(b"".join(await pieces(client, limit="300")))
    assert len(document["items"]) == 300
    assert document["metadata"]["remainingItemCount"] == MANY - 300
    rest = msgspec.json.decode(
        (await client.send("GET", CMS, **{"continue": document["metadata"]["continue"]})).body
    )
    assert len(rest["items"]) == MANY - 300


async def test_it_shows_the_moment_it_was_asked_for(client: Api) -> None:
    answer = await listed(client)
    assert isinstance(answer, ListStream)
    await client.merge(f"{CMS}/c-399", {"data": {"text": "later"}})
    await client.delete(f"{CMS}/c-398")
    document = msgspec.json.decode(b"".join([piece async for piece in answer.chunks()]))
    assert len(document["items"]) == MANY
    assert document["items"][-1]["data"]["text"] == TEXT


async def test_others_have_their_turn_between_pieces(client: Api) -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        other = group.create_task(count())
        found = await pieces(client)
        other.cancel()
    assert turns >= len(found) - 1


@pytest.mark.parametrize("agent", ["test/1", "curl/8"])
async def test_indented_or_not_it_is_the_same_document(client: Api, agent: str) -> None:
    whole = b"".join(await pieces(client, agent))
    document: dict[str, Any] = msgspec.json.decode(whole)
    compact = msgspec.json.encode(document)
    wanted = msgspec.json.format(compact, indent=2) if agent == "curl/8" else compact + b"\n"
    assert whole == wanted


async def test_what_must_be_written_first_is_still_one_answer(client: Api) -> None:
    reply = await client.send("GET", CMS, headers={"accept": "application/yaml"})
    assert reply.headers["content-type"] == "application/yaml"
    assert reply.body.startswith(b"apiVersion: v1\nitems:\n")
    table = await client.get(
        CMS, headers={"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    )
    assert len(table["rows"]) == MANY


async def test_a_named_object_is_found_among_many(client: Api) -> None:
    assert await client.names(CMS, fieldSelector="metadata.name=c-007") == ["c-007"]
    assert await client.names(CMS, fieldSelector="metadata.name=no") == []
    async with client.watch(CMS, fieldSelector="metadata.name=c-007") as events:
        assert await events.told() == ("ADDED", "c-007")
        await client.merge(f"{CMS}/c-006", {"data": {"text": ""}})
        await client.merge(f"{CMS}/c-007", {"data": {"text": ""}})
        assert await events.told() == ("MODIFIED", "c-007")


async def test_a_watch_that_wants_nothing_of_many_tells_nothing(client: Api) -> None:
    async with client.watch(CMS, labelSelector="app=no") as events:
        await client.create(CMS, config_map("z", labels={"app": "no"}))
        assert await events.told() == ("ADDED", "z")
