from __future__ import annotations

import asyncio

from quintant.cluster.apiserver.watch.hub import BEHIND, BOOKMARK_SECONDS, FAREWELL_SECONDS
from quintant.core.clock import monotonic
from quintant.testing.loop import advance
from unit.cluster.api import CMS, PODS, Api, JsonObject, api, config_map, pod

SOON = BOOKMARK_SECONDS + 1
END = "k8s.io/initial-events-end"


def brief(events: list[JsonObject]) -> list[tuple[str, str]]:
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events]


def version(obj: JsonObject) -> int:
    return int(obj["metadata"]["resourceVersion"])


async def revision(client: Api) -> str:
    found: str = (await client.get(CMS))["metadata"]["resourceVersion"]
    return found


async def test_a_watch_tells_what_is_there_and_then_what_happens() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    async with client.watch(CMS) as events:
        assert await events.told() == ("ADDED", "a")
        await client.create(CMS, config_map("b"))
        await client.merge(f"{CMS}/a", {"data": {"k": "v"}})
        await client.delete(f"{CMS}/a")
        assert await events.told() == ("ADDED", "b")
        assert await events.told() == ("MODIFIED", "a")
        deleted = await events.next()
    assert deleted["type"] == "DELETED"
    assert deleted["object"]["data"] == {"k": "v"}
    assert str(version(deleted["object"])) == await revision(client)


async def test_a_watch_from_a_revision_tells_only_what_came_later() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    since = await revision(client)
    await client.create(CMS, config_map("b"))
    async with client.watch(CMS, resourceVersion=since) as events:
        await client.create(CMS, config_map("c"))
        assert [await events.told(), await events.told()] == [("ADDED", "b"), ("ADDED", "c")]


async def test_an_object_enters_and_leaves_a_selection() -> None:
    client = api()
    await client.create(CMS, config_map("a", {"k": "1"}, labels={"l": "1"}))
    async with client.watch(CMS, labelSelector="l=1") as events:
        first = await events.next()
        gone = await client.merge(
            f"{CMS}/a", {"metadata": {"labels": {"l": "2"}}, "data": {"k": "2"}}
        )
        await client.merge(f"{CMS}/a", {"data": {"k": "3"}})
        await client.merge(f"{CMS}/a", {"metadata": {"labels": {"l": "1"}}})
        left = await events.next()
        back = await events.next()
    assert (left["type"], back["type"]) == ("DELETED", "ADDED")
    assert left["object"]["data"] == first["object"]["data"] == {"k": "1"}
    assert version(left["object"]) == version(gone)


async def test_a_watch_of_one_namespace_hears_nothing_of_another() -> None:
    client = api()
    await client.create("/api/v1/namespaces", {"metadata": {"name": "other"}})
    async with client.watch(CMS) as here, client.watch("/api/v1/configmaps") as everywhere:
        await client.create("/api/v1/namespaces/other/configmaps", config_map("x"))
        await client.create(CMS, config_map("a"))
        assert await here.told() == ("ADDED", "a")
        assert [await everywhere.told(), await everywhere.told()] == [
            ("ADDED", "x"),
            ("ADDED", "a"),
        ]


async def test_one_object_can_be_watched_by_name() -> None:
    client = api()
    async with client.watch(CMS, fieldSelector="metadata.name=b") as events:
        await client.create(CMS, config_map("a"))
        await client.create(CMS, config_map("b"))
        assert await events.told() == ("ADDED", "b")


async def test_watches_opened_at_every_revision_see_the_same_order() -> None:
    client = api()
    start = int(await revision(client))
    for number in range(20):
        await client.create(CMS, config_map(f"c{number:02}"))
        await client.merge(f"{CMS}/c{number:02}", {"data": {"k": "v"}})
    end = int(await revision(client))
    whole: list[JsonObject] = []
    for since in range(start, end):
        async with client.watch(CMS, resourceVersion=str(since), timeoutSeconds="1") as events:
            seen = await events.rest()
        whole = whole or seen
        assert seen == whole[since - start :]
    assert len(whole) == 40


async def test_a_forgotten_revision_ends_the_watch_with_an_error_in_the_stream() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    client.server.compact()
    async with client.watch(CMS, resourceVersion="1") as events:
        (error,) = await events.rest()
    assert error["type"] == "ERROR"
    assert (error["object"]["code"], error["object"]["reason"]) == (410, "Expired")
    assert error["object"]["message"].startswith("too old resource version: 1 (")


async def test_a_future_revision_is_met_with_silence() -> None:
    client = api()
    async with client.watch(CMS, resourceVersion="99999", timeoutSeconds="5") as events:
        assert await events.rest() == []


async def test_a_watch_ends_after_the_time_it_asked_for() -> None:
    client = api()
    began = monotonic()
    async with client.watch(CMS, timeoutSeconds="30") as events:
        assert await events.rest() == []
    assert monotonic() - began == 30


async def test_a_watch_that_names_no_time_ends_within_an_hour() -> None:
    client = api()
    began = monotonic()
    async with client.watch(CMS) as events:
        await events.rest()
    assert 1800 <= monotonic() - began <= 3600


async def test_bookmarks_come_when_asked_for_and_before_the_end() -> None:
    client = api()
    async with client.watch(CMS, allowWatchBookmarks="true", timeoutSeconds="150") as events:
        await client.create(PODS, pod("elsewhere"))
        marks = [await events.next(within=SOON), await events.next(within=SOON)]
        last = await events.next(within=SOON)
        assert monotonic() == 150 - FAREWELL_SECONDS
        assert await events.rest() == []
    for mark in (*marks, last):
        assert mark["type"] == "BOOKMARK"
        assert mark["object"] == {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": await revision(client)},
        }


async def test_nobody_gets_bookmarks_unasked() -> None:
    client = api()
    async with client.watch(CMS, timeoutSeconds="600") as events:
        assert await events.rest() == []


async def test_resuming_from_a_bookmark_loses_nothing() -> None:
    client = api()
    async with client.watch(CMS, allowWatchBookmarks="true") as events:
        mark = await events.next(within=SOON)
    await client.create(CMS, config_map("a"))
    since = mark["object"]["metadata"]["resourceVersion"]
    async with client.watch(CMS, resourceVersion=since) as events:
        assert await events.told() == ("ADDED", "a")


async def test_a_watch_list_marks_the_end_of_what_was_there() -> None:
    client = api()
    await client.create(CMS, config_map("b"))
    await client.create(CMS, config_map("a"))
    async with client.watch(CMS, **watch_list()) as events:
        assert [await events.told(), await events.told()] == [("ADDED", "a"), ("ADDED", "b")]
        mark = await events.next()
        assert mark["type"] == "BOOKMARK"
        assert mark["object"]["metadata"]["annotations"] == {END: "true"}
        assert mark["object"]["metadata"]["resourceVersion"] == await revision(client)
        await client.delete(f"{CMS}/a")
        assert await events.told() == ("DELETED", "a")


async def test_nothing_is_lost_between_the_watch_list_and_the_live_stream() -> None:
    client = api()
    for number in range(1000):
        await client.create(CMS, config_map(f"c{number:04}"))
    async with client.watch(CMS, **watch_list(), timeoutSeconds="1") as events:
        await client.create(CMS, config_map("late"))
        told = brief(await events.rest())
    assert told.index(("BOOKMARK", "")) == 1000
    assert told[1001] == ("ADDED", "late")


async def test_a_watch_may_ask_to_start_with_nothing() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    query = {"sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan"}
    async with client.watch(CMS, **query) as events:
        await client.create(CMS, config_map("b"))
        assert await events.told() == ("ADDED", "b")


async def test_metadata_can_be_watched_alone() -> None:
    client = api()
    await client.create(CMS, config_map("a", {"k": "v"}))
    accept = {"accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
    found = await client.get(CMS, watch="1", timeoutSeconds="1", headers=accept)
    assert found["object"]["kind"] == "PartialObjectMetadata"
    assert "data" not in found["object"]


async def test_removing_the_last_finalizer_is_told_as_a_deletion_only() -> None:
    client = api()
    await client.create(CMS, config_map("a", finalizers=["x.y/z"]))
    await client.delete(f"{CMS}/a")
    since = await revision(client)
    async with client.watch(CMS, resourceVersion=since, timeoutSeconds="1") as events:
        await client.merge(f"{CMS}/a", {"metadata": {"finalizers": None}})
        assert brief(await events.rest()) == [("DELETED", "a")]


async def test_a_watcher_far_behind_is_cut_and_can_resume() -> None:
    client = api()
    since = await revision(client)
    await client.create(CMS, config_map("a"))
    async with client.watch(CMS, resourceVersion=since) as events:
        store = client.server.store
        table = store.table("configmaps")
        for _ in range(BEHIND + 10):
            store.put(table, "default/a", table.entries["default/a"])
        seen = await events.rest()
    assert len(seen) == 1
    last = seen[-1]["object"]["metadata"]["resourceVersion"]
    async with client.watch(CMS, resourceVersion=last, timeoutSeconds="1") as events:
        assert len(await events.rest()) == BEHIND + 10


async def test_leaving_a_watch_frees_it() -> None:
    client = api()
    async with client.watch(CMS) as events:
        await client.create(CMS, config_map("a"))
        await events.next()
        assert client.server.watches == 1
    assert client.server.watches == 0
    await client.create(CMS, config_map("b"))


async def test_closing_the_server_ends_every_watch() -> None:
    client = api()
    async with client.watch(CMS) as one, client.watch(PODS) as other:
        client.server.close()
        assert [await one.rest(), await other.rest()] == [[], []]


async def test_watchers_of_one_selection_hear_the_same_bytes() -> None:
    client = api()

    async def follow() -> list[JsonObject]:
        async with client.watch(CMS, labelSelector="l", timeoutSeconds="5") as events:
            return await events.rest()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(follow()) for _ in range(10)]
        await advance(1)
        for number in range(5):
            await client.create(CMS, config_map(f"c{number}", labels={"l": ""}))
    assert all(task.result() == tasks[0].result() for task in tasks)
    assert len(tasks[0].result()) == 5


async def test_the_old_way_of_asking_for_a_watch_works() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    path = "/api/v1/watch/namespaces/default/configmaps"
    found = await client.get(path, timeoutSeconds="1")
    assert found["type"] == "ADDED"


def watch_list() -> dict[str, str]:
    return {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
    }
