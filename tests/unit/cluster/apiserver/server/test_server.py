from __future__ import annotations

from typing import Any

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.meta.status import REQUEST_LIMIT
from unit.cluster.api import CMS, Api, api, config_map, server


async def test_every_answer_is_private_and_has_an_id_of_its_own() -> None:
    client = api()
    replies = [await client.send("GET", path) for path in (CMS, f"{CMS}/a", "/version")]
    assert all(reply.headers["cache-control"] == "no-cache, private" for reply in replies)
    assert all(reply.headers["content-type"] == "application/json" for reply in replies)
    assert len({reply.headers["audit-id"] for reply in replies}) == 3


async def test_refusals_are_status_documents() -> None:
    missing = await api().get(f"{CMS}/a", code=404)
    assert missing == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps "a" not found',
        "reason": "NotFound",
        "details": {"name": "a", "kind": "configmaps"},
        "code": 404,
    }


async def test_a_stream_of_anything_but_a_watch_is_its_answer() -> None:
    client = api()
    for path, status in ((CMS, 200), (f"{CMS}/a", 404)):
        async with client.transport.stream(ApiRequest("GET", path)) as stream:
            body = b"".join([chunk async for chunk in stream.chunks])
        assert stream.status == status
        assert body == (await client.send("GET", path)).body


async def test_header_names_may_be_spelt_in_any_case() -> None:
    client = api()
    call = ApiRequest("POST", CMS, {}, {"Content-Type": "text/csv"}, b"x")
    assert (await client.transport.request(call)).status == 415


async def test_a_body_can_be_too_large() -> None:
    refused = await api().create(CMS, b" " * (REQUEST_LIMIT + 1), code=413)
    assert refused["message"] == "Request entity too large: limit is 3145728"


async def test_a_collection_is_not_written_and_an_object_not_posted() -> None:
    client = api()
    await client.put(CMS, config_map("a"), code=405)
    await client.create(f"{CMS}/a", config_map("a"), code=405)
    await client.create("/api/v1/configmaps", config_map("a"), code=405)
    await client.get("/api/v1/configmaps/a", code=404)
    await client.get("/api/v1/namespaces/default/nodes", code=404)


async def test_a_restored_snapshot_is_a_clean_start() -> None:
    client = api()
    saved = client.server.snapshot()
    await client.create(CMS, config_map("a"))
    since = (await client.get(CMS))["metadata"]["resourceVersion"]
    async with client.watch(CMS) as events:
        await events.next()
        client.server.restore(saved)
        (last,) = await events.rest()
    assert (last["type"], last["object"]["code"]) == ("ERROR", 410)
    assert await client.names(CMS) == []
    async with client.watch(CMS, resourceVersion=since) as events:
        (error,) = await events.rest()
    assert error["object"]["reason"] == "Expired"


async def test_two_servers_of_one_seed_give_the_same_answers() -> None:
    async def run() -> list[Any]:
        client = Api(server(seed=7))
        return [await client.create(CMS, {"metadata": {"generateName": "a-"}}) for _ in range(3)]

    assert await run() == await run()
