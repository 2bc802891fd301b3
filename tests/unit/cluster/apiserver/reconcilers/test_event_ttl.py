"""Events end an hour after they were last written, and nothing else does."""

from __future__ import annotations

import asyncio

from quintant.cluster.apiserver.reconcilers.event_ttl import LIFE_SECONDS
from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import CMS, Api, JsonObject, config_map, server

EVENTS = "/api/v1/namespaces/default/events"


def event(name: str) -> JsonObject:
    about = {"kind": "Pod", "namespace": "default", "name": "a"}
    return {"metadata": {"name": name}, "involvedObject": about, "reason": "Told", "count": 1}


async def names(api: Api) -> list[str]:
    return [each["metadata"]["name"] for each in (await api.get(EVENTS))["items"]]


async def test_an_event_ends_after_an_hour() -> None:
    api = Api(server())
    await api.create(EVENTS, event("early"))
    await asyncio.sleep(LIFE_SECONDS / 2)
    await api.create(EVENTS, event("late"))
    await asyncio.sleep(LIFE_SECONDS / 2 - 1)
    assert await names(api) == ["early", "late"]
    await asyncio.sleep(2)
    assert await names(api) == ["late"]
    await asyncio.sleep(LIFE_SECONDS / 2)
    assert await names(api) == []


async def test_an_event_that_is_written_again_stays_another_hour() -> None:
    api = Api(server())
    await api.create(EVENTS, event("again"))
    await asyncio.sleep(LIFE_SECONDS - 1)
    await api.merge(f"{EVENTS}/again", {"count": 2})
    await asyncio.sleep(LIFE_SECONDS - 1)
    assert await names(api) == ["again"]
    await asyncio.sleep(2)
    assert await names(api) == []


async def test_whoever_watches_is_told_of_the_end() -> None:
    api = Api(server())
    await api.create(EVENTS, event("a"))
    await asyncio.sleep(LIFE_SECONDS - 5)
    async with api.watch(EVENTS) as events:
        assert (await events.next(1))["type"] == "ADDED"
        assert (await events.next(10))["type"] == "DELETED"


async def test_an_event_that_was_deleted_and_made_anew_has_its_hour() -> None:
    api = Api(server())
    await api.create(EVENTS, event("a"))
    await api.delete(f"{EVENTS}/a")
    await asyncio.sleep(LIFE_SECONDS - 1)
    await api.create(EVENTS, event("a"))
    await asyncio.sleep(2)
    assert await names(api) == ["a"]


async def test_other_objects_stay() -> None:
    api = Api(server())
    await api.create(CMS, config_map("a"))
    await api.create(EVENTS, event("a"))
    await asyncio.sleep(3 * LIFE_SECONDS)
    assert (await api.get(f"{CMS}/a"))["metadata"]["name"] == "a"


async def test_events_of_a_store_or_a_snapshot_end_too() -> None:
    first = server()
    await Api(first).create(EVENTS, event("a"))
    kept = first.snapshot()
    second = ApiServer(store=first.store)
    first.close()
    await asyncio.sleep(LIFE_SECONDS + 1)
    assert await names(Api(second)) == []
    second.restore(kept)
    assert await names(Api(second)) == ["a"]
    await asyncio.sleep(LIFE_SECONDS + 1)
    assert await names(Api(second)) == []


async def test_a_server_that_is_closed_writes_nothing() -> None:
    served = server()
    await Api(served).create(EVENTS, event("a"))
    served.close()
    revision = served.store.revision
    await asyncio.sleep(LIFE_SECONDS + 1)
    assert served.store.revision == revision
