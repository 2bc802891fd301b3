"""Watches: what is told, to whom, in which order, and how a stream begins and ends."""

from __future__ import annotations

import asyncio
import re
from contextlib import AsyncExitStack
from time import monotonic
from typing import Any

import pytest

from conformance.target import Target, causes, decoded, definition
from unit.cluster.api import CRDS, Events, JsonObject, config_map

SOON = 5.0
"""Seconds within which a watcher hears of a write, on a busy machine."""


async def write(target: Target, name: str, data: str = "", **metadata: object) -> JsonObject:
    """Create a ConfigMap, or change its data."""
    path = target.path("configmaps", name)
    body = {**config_map(name), "metadata": {"name": name, **metadata}, "data": {"k": data}}
    reply = await target.send("PUT", path, body)
    return await target.create(target.path("configmaps"), body) if reply.status == 404 else {}


async def test_watchers_see_what_matches_their_labels(target: Target) -> None:
    path = target.path("configmaps")
    async with AsyncExitStack() as stack:
        since = await target.revision()
        watches = [
            await stack.enter_async_context(
                target.watch(path, labelSelector=f"w in ({labels})", resourceVersion=since)
            )
            for labels in ("a", "b", "a,b")
        ]
        await write(target, "a", "1", labels={"w": "a"})
        await write(target, "b", "1", labels={"w": "b"})
        await write(target, "a", "2", labels={"w": "a"})
        await target.delete(f"{path}/a")
        only_a = [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
        assert [await watches[0].told(SOON) for _ in only_a] == only_a
        assert await watches[1].told(SOON) == ("ADDED", "b")
        assert [await watches[2].told(SOON) for _ in range(4)] == [
            ("ADDED", "a"),
            ("ADDED", "b"),
            *only_a[1:],
        ]


async def test_a_watch_from_a_revision_tells_what_came_later(target: Target) -> None:
    made = await write(target, "a", "1")
    await write(target, "a", "2")
    await target.delete(target.path("configmaps", "a"))
    since = made["metadata"]["resourceVersion"]
    async with target.watch(target.path("configmaps"), resourceVersion=since) as events:
        first, second = await events.next(SOON), await events.next(SOON)
    assert (first["type"], first["object"]["data"]) == ("MODIFIED", {"k": "2"})
    assert second["type"] == "DELETED"
    revisions = [int(each["object"]["metadata"]["resourceVersion"]) for each in (first, second)]
    assert int(since) < revisions[0] < revisions[1]


async def test_a_watch_resumes_where_it_ended(target: Target) -> None:
    path, since = target.path("configmaps"), await target.revision()
    await write(target, "a", "1")
    async with target.watch(path, resourceVersion=since) as events:
        seen = (await events.next(SOON))["object"]["metadata"]["resourceVersion"]
    await write(target, "a", "2")
    await write(target, "b", "1")
    async with target.watch(path, resourceVersion=seen) as events:
        told = [await events.told(SOON) for _ in range(2)]
    assert told == [("MODIFIED", "a"), ("ADDED", "b")]


async def test_leaving_and_entering_a_selector(target: Target) -> None:
    path, since = target.path("configmaps"), await target.revision()
    query = {"labelSelector": "in=yes", "resourceVersion": since}
    async with target.watch(path, **query) as events:
        await write(target, "a", "1", labels={"in": "yes"})
        await write(target, "a", "2", labels={"in": "no"})
        away = await target.get(f"{path}/a")
        await write(target, "a", "3", labels={"in": "yes"})
        added, left, back = [await events.next(SOON) for _ in range(3)]
    assert [each["type"] for each in (added, left, back)] == ["ADDED", "DELETED", "ADDED"]
    assert left["object"]["data"] == {"k": "1"}
    assert left["object"]["metadata"]["labels"] == {"in": "yes"}
    assert left["object"]["metadata"]["resourceVersion"] == away["metadata"]["resourceVersion"]
    assert back["object"]["data"] == {"k": "3"}


async def test_concurrent_watches_see_one_order(target: Target) -> None:
    path, since, count = target.path("configmaps"), await target.revision(), 100
    revisions = [since]

    async def change() -> None:
        for at in range(count):
            await write(target, f"c{at % 3}", str(at))

    async def read(events: Events, wanted: int) -> list[str]:
        found = [await events.next(SOON) for _ in range(wanted)]
        return [each["object"]["metadata"]["resourceVersion"] for each in found]

    async with AsyncExitStack() as stack:
        async with target.watch(path, resourceVersion=since) as events:
            _, seen = await asyncio.gather(change(), read(events, count))
        revisions += seen
        watches = [
            await stack.enter_async_context(target.watch(path, resourceVersion=revision))
            for revision in revisions[:-1]
        ]
        for at, watch in enumerate(watches):
            assert await read(watch, count - at) == revisions[at + 1 :]


async def test_a_watch_ends_when_its_time_is_over(target: Target) -> None:
    began = monotonic()
    since = await target.revision()
    query = {"timeoutSeconds": "1", "resourceVersion": since}
    async with target.watch(target.path("configmaps"), **query) as events:
        assert await events.rest() == []
    assert 0.5 < monotonic() - began < SOON


async def test_a_watch_without_an_end_goes_on(target: Target) -> None:
    since = await target.revision()
    async with target.watch(target.path("configmaps"), resourceVersion=since) as events:
        with pytest.raises(TimeoutError):
            await events.next(3)


async def test_a_watch_from_too_long_ago_is_told_so(target: Target) -> None:
    foos = await target.define()
    async with target.watch(foos.path(), resourceVersion="1") as events:
        (event,) = await events.rest()
    status = event["object"]
    assert (event["type"], status["code"], status["reason"]) == ("ERROR", 410, "Expired")
    assert re.fullmatch(r"too old resource version: 1 \(\d+\)", status["message"])


@pytest.mark.parametrize("asked", ["true", "1", "yes", ""])
async def test_whatever_does_not_say_no_is_a_watch(target: Target, asked: str) -> None:
    await write(target, "a", "1")
    query: Any = {"watch": asked, "timeoutSeconds": "1", "fieldSelector": "metadata.name=a"}
    reply = await target.send("GET", target.path("configmaps"), **query)
    assert b'"type":"ADDED"' in reply.body
    for no in ("false", "0", "False"):
        listed = await target.ask("GET", target.path("configmaps"), None, 200, watch=no)
        assert listed["kind"] == "ConfigMapList"


async def test_bookmarks_come_when_asked_for(target: Target) -> None:
    await write(target, "a", "1")
    since = await target.revision()
    query = {"timeoutSeconds": "1", "resourceVersion": since}
    async with target.watch(target.path("configmaps"), **query) as events:
        assert await events.rest() == []
    query |= {"timeoutSeconds": "6", "allowWatchBookmarks": "true"}
    async with target.watch(target.path("configmaps"), **query) as events:
        apart = target.elsewhere("default", "configmaps")
        await target.create(apart, config_map(target.namespace))
        marks = await events.rest()
    assert marks
    assert {mark["type"] for mark in marks} == {"BOOKMARK"}
    mark = marks[-1]["object"]
    assert (mark["kind"], mark["apiVersion"]) == ("ConfigMap", "v1")
    assert int(mark["metadata"]["resourceVersion"]) >= int(since)
    await write(target, "b", "1")
    resumed = {"resourceVersion": mark["metadata"]["resourceVersion"]}
    async with target.watch(target.path("configmaps"), **resumed) as events:
        assert await events.told(SOON) == ("ADDED", "b")


async def test_a_watch_may_begin_with_everything_there_is(target: Target) -> None:
    for name in ("b", "a"):
        await write(target, name, "1")
    query = {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
    }
    async with target.watch(target.path("configmaps"), **query) as events:
        assert [await events.told(SOON) for _ in range(2)] == [("ADDED", "a"), ("ADDED", "b")]
        mark = await events.next(SOON)
        assert mark["type"] == "BOOKMARK"
        ended = {"k8s.io/initial-events-end": "true"}
        assert mark["object"]["metadata"]["annotations"] == ended
        await write(target, "c", "1")
        assert await events.told(SOON) == ("ADDED", "c")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"sendInitialEvents": "true"}, "resourceVersionMatch"),
        ({"resourceVersionMatch": "NotOlderThan"}, "resourceVersionMatch"),
        (
            {"sendInitialEvents": "true", "resourceVersionMatch": "Exact", "resourceVersion": "1"},
            "resourceVersionMatch",
        ),
    ],
    ids=["bare", "match", "exact"],
)
async def test_impossible_options_are_refused(
    target: Target, query: dict[str, str], field: str
) -> None:
    refused = await target.ask("GET", target.path("configmaps"), None, 422, watch="true", **query)
    assert field in {cause[0] for cause in causes(refused)}


async def test_a_watch_may_begin_with_nothing(target: Target) -> None:
    await write(target, "a", "1")
    query = {"sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan"}
    async with target.watch(target.path("configmaps"), **query) as events:
        await write(target, "b", "1")
        assert await events.told(SOON) == ("ADDED", "b")


async def test_definitions_can_be_watched(target: Target) -> None:
    group = f"{target.namespace}.example.com"
    name = f"foos.{group}"
    async with target.watch(CRDS, fieldSelector=f"metadata.name={name}") as events:
        await target.create(CRDS, definition(group))
        assert await events.told(SOON) == ("ADDED", name)
        found = await events.next(SOON)
        assert found["type"] == "MODIFIED"
        assert found["object"]["status"]["conditions"]
        await target.delete(f"{CRDS}/{name}")
        told = await events.told(SOON)
        while told[0] == "MODIFIED":
            told = await events.told(SOON)
        assert told == ("DELETED", name)


async def test_objects_of_a_definition_can_be_watched(target: Target) -> None:
    foos = await target.define()
    async with target.watch(foos.path()) as events:
        await target.create(foos.path(), foos.object("a"))
        assert await events.told(SOON) == ("ADDED", "a")
        await target.delete(foos.path("a"))
        assert await events.told(SOON) == ("DELETED", "a")


LARGEST = 2**64 - 1
"""The largest revision that can be asked for."""


@pytest.mark.parametrize("bookmarks", ["true", "false"])
@pytest.mark.parametrize("revision", [10**9, LARGEST])
async def test_a_watch_with_a_list_waits_for_no_revision_from_the_future(
    target: Target, revision: int, bookmarks: str
) -> None:
    async with target.watch(
        target.path("configmaps"),
        resourceVersion=str(revision),
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks=bookmarks,
        timeoutSeconds="20",
    ) as events:
        event = await events.next(2 * SOON)
    status = event["object"]
    assert (event["type"], status["code"], status["reason"]) == ("ERROR", 504, "Timeout")
    assert status["message"].startswith(f"Timeout: Too large resource version: {revision}, current")
    assert status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


@pytest.mark.parametrize("revision", [LARGEST, 2**63])
async def test_a_watch_from_the_future_begins_in_silence(target: Target, revision: int) -> None:
    path, since = target.path("configmaps"), str(revision)
    reply = await target.send("GET", path, watch="1", resourceVersion=since, timeoutSeconds="1")
    assert (reply.status, reply.body) == (200, b"")


@pytest.mark.parametrize("revision", [str(2**64), "9" * 30, "-1", "1e3"])
async def test_a_watch_from_no_revision_says_so_as_go_does(target: Target, revision: str) -> None:
    path = target.path("configmaps")
    reply = await target.send("GET", path, watch="1", resourceVersion=revision)
    why = "value out of range" if revision.isdigit() else "invalid syntax"
    said = f'strconv.ParseUint: parsing "{revision}": {why}'
    answer = decoded(reply.body)
    assert (reply.status, answer["status"], "reason" in answer) == (500, "Failure", False)
    assert answer["message"] == f'resourceVersion: Invalid value: "{revision}": {said}'
