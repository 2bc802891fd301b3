"""Promises of quintant.runtime.cache.reader."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from quintant.core.clock import monotonic
from quintant.core.errors import (
    BadRequest,
    ConfigError,
    Forbidden,
    NotFound,
    NotWatched,
    Undecodable,
)
from quintant.core.object import Metadata, Request
from quintant.runtime.cache.informer import ObjectChange
from quintant.testing.loop import settle
from unit.runtime.client_testbed import ClientTestbed, names
from unit.runtime.kinds import Chart, Ocean, Ship, chart, meta
from unit.runtime.scripted_transport import added, bookmark, deleted, modified, page


@pytest.fixture
async def testbed() -> AsyncIterator[ClientTestbed]:
    testbed = ClientTestbed()
    yield testbed
    await testbed.close()


# One object.


async def test_a_watched_kind_is_read_from_its_cache(testbed: ClientTestbed) -> None:
    await testbed.watched(Chart, chart("a", "1"))

    assert await testbed.unasked(testbed.client.find(Chart, "a", "sea")) == chart("a", "1")
    assert await testbed.unasked(testbed.client.get(Chart, "a", "sea")) == chart("a", "1")
    assert await testbed.unasked(testbed.client.find(Chart, "b", "sea")) is None
    with pytest.raises(NotFound, match='charts "b" not found'):
        await testbed.unasked(testbed.client.get(Chart, "b", "sea"))


async def test_a_kind_nobody_watches_is_not_read_from_a_cache(testbed: ClientTestbed) -> None:
    with pytest.raises(NotWatched):
        await testbed.unasked(testbed.client.find(Chart, "a", "sea"))
    with pytest.raises(NotWatched):
        await testbed.unasked(testbed.client.list(Chart))


async def test_a_live_read_asks_the_server(testbed: ClientTestbed) -> None:
    await testbed.watched(Chart, chart("a", "1"))

    found, _ = await testbed.answered(
        testbed.client.get(Chart, "a", "sea", live=True), chart("a", "9")
    )
    assert found == chart("a", "9")
    missing, _ = await testbed.answered(testbed.client.find(Chart, "b", "sea", live=True), 404)
    assert missing is None
    with pytest.raises(NotFound):
        await testbed.answered(testbed.client.get(Chart, "b", "sea", live=True), 404)
    with pytest.raises(Forbidden):
        await testbed.answered(testbed.client.find(Chart, "b", "sea", live=True), 403)


async def test_a_client_without_caches_asks_the_server(testbed: ClientTestbed) -> None:
    found, _ = await testbed.answered(testbed.bare.find(Chart, "a", "sea"), chart("a", "1"))

    assert found == chart("a", "1")


async def test_a_read_waits_for_its_cache(testbed: ClientTestbed) -> None:
    testbed.caches.declare(Chart)
    reading = asyncio.ensure_future(testbed.client.find(Chart, "a", "sea"))
    listing = asyncio.ensure_future(testbed.client.list(Chart))
    await settle()
    assert not reading.done()

    await testbed.watched(Chart, chart("a", "1"))

    assert await reading == chart("a", "1")
    assert names(await listing) == ["a"]


async def test_a_key_that_names_nothing_is_a_mistake_and_not_an_absence(
    testbed: ClientTestbed,
) -> None:
    await testbed.watched(Chart)

    with pytest.raises(ConfigError, match="without a namespace"):
        await testbed.client.find(Chart, "a")
    with pytest.raises(ConfigError, match="without a name"):
        await testbed.client.find(Chart, "", "sea")
    with pytest.raises(BadRequest):
        await testbed.bare.find(Chart, "../../secrets/a", "sea")


async def test_a_kind_without_namespaces_has_no_namespace(testbed: ClientTestbed) -> None:
    ocean = Ocean(metadata=meta("atlantic", "1", namespace=""))
    await testbed.watched(Ocean, ocean)

    assert await testbed.client.find(Ocean, "atlantic", "sea") == ocean
    assert await testbed.client.find(Ocean, "atlantic") == ocean


async def test_metadata_alone_is_read_from_its_own_cache(testbed: ClientTestbed) -> None:
    await testbed.watched(Metadata[Chart], chart("a", "1"))

    found = await testbed.client.get(Metadata[Chart], "a", "sea")

    assert found.key == Request("a", "sea")
    with pytest.raises(NotWatched):
        await testbed.client.get(Chart, "a", "sea")


# Many objects.


async def test_a_list_of_all_namespaces_is_all_that_watches_of_some_follow(
    testbed: ClientTestbed,
) -> None:
    north, south = chart("a", "1", namespace="north"), chart("b", "1", namespace="south")
    first = await testbed.watched(Chart, north, namespaces=["north"])
    await testbed.watched(Chart, south, namespaces=["south"])
    first.store.add_index("name", lambda obj: [obj.metadata.name])

    assert names(await testbed.client.list(Chart)) == ["a", "b"]
    assert names(await testbed.client.list(Chart, "south")) == ["b"]
    assert names(await testbed.client.list(Chart, index=("name", "a"))) == ["a"]
    with pytest.raises(NotWatched):
        await testbed.client.list(Chart, "west")
    with pytest.raises(ConfigError, match="there is no index"):
        await testbed.client.list(Chart, index=("other", "a"))


async def test_a_cached_list_is_selected_here(testbed: ClientTestbed) -> None:
    informer = await testbed.watched(
        Chart,
        chart("a", "1", labels={"x": "1"}, data={"water": "north"}),
        chart("b", "2", labels={"x": "2"}, data={"water": "north"}),
        chart("c", "3", namespace="lake", labels={"x": "1"}, data={"water": "south"}),
    )
    informer.store.add_index("water", lambda obj: [obj.data["water"]])
    client = testbed.client

    assert names(await testbed.unasked(client.list(Chart))) == ["a", "b", "c"]
    assert names(await client.list(Chart, "sea")) == ["a", "b"]
    assert names(await client.list(Chart, labels={"x": "1"})) == ["a", "c"]
    assert names(await client.list(Chart, "sea", labels={"x": ""})) == ["a", "b"]
    assert names(await client.list(Chart, index=("water", "north"))) == ["a", "b"]
    assert names(await client.list(Chart, "lake", index=("water", "south"))) == ["c"]
    with pytest.raises(ConfigError, match="there is no index 'depth'"):
        await client.list(Chart, index=("depth", "x"))
    with pytest.raises(ConfigError, match="a cache has no field selectors"):
        await client.list(Chart, fields={"metadata.name": "a"})


async def test_a_live_list_is_selected_by_the_server_and_read_by_pages(
    testbed: ClientTestbed,
) -> None:
    listing = testbed.client.list(
        Chart, "sea", labels={"x": "1"}, fields={"metadata.name": "a"}, live=True
    )

    found, asked = await testbed.answered(
        listing, page(chart("a", "1"), more="m1"), page(chart("b", "2"), more="m2"), page()
    )

    assert names(found) == ["a", "b"]
    selection = {"labelSelector": "x=1", "fieldSelector": "metadata.name=a", "limit": "500"}
    assert [each.query for each in asked] == [
        selection,
        selection | {"continue": "m1"},
        selection | {"continue": "m2"},
    ]


async def test_pages_that_expire_are_read_at_once(testbed: ClientTestbed) -> None:
    found, asked = await testbed.answered(
        testbed.bare.list(Chart),
        page(chart("ghost", "1"), more="m1"),
        410,
        page(chart("a", "2"), chart("b", "3")),
    )

    assert names(found) == ["a", "b"]
    assert asked[-1].query == {}


async def test_an_index_is_a_caches(testbed: ClientTestbed) -> None:
    with pytest.raises(ConfigError, match="an index can only be read from a cache"):
        await testbed.bare.list(Chart, index=("a", "b"))


async def test_a_live_list_with_a_misfit_says_which(testbed: ClientTestbed) -> None:
    body = b'{"items":[{"metadata":{"name":"a","namespace":"sea"},"spec":{"crew":"many"}}]}'

    with pytest.raises(Undecodable, match="cannot decode Ship sea/a"):
        await testbed.answered(testbed.bare.list(Ship), body)


# Watches and waits.


async def test_a_watch_yields_changes(testbed: ClientTestbed) -> None:
    changes = testbed.bare.watch(Chart, "sea", labels={"x": "1"}, fields={"metadata.name": "a"})
    async with aclosing(changes):  # type: ignore[type-var]
        coming = asyncio.ensure_future(anext(changes))
        asked = await testbed.server.asked()
        asked.accept()
        asked.say(added(chart("a", "1")), bookmark("5", initial=True))

        assert await coming == ObjectChange(None, chart("a", "1"), initial=True)
        assert asked.query["labelSelector"] == "x=1"
        assert asked.query["fieldSelector"] == "metadata.name=a"


async def test_a_wait_ends_when_its_condition_holds(testbed: ClientTestbed) -> None:
    doing, asked = await testbed.ask(
        testbed.client.wait(chart("a"), lambda obj: obj is not None and "x" in obj.data, 30)
    )
    asked.accept()
    asked.say(added(chart("a", "1")), bookmark("5", initial=True))
    asked.say(modified(chart("a", "6", data={"x": "y"})))

    assert await doing == chart("a", "6", data={"x": "y"})
    assert asked.query["fieldSelector"] == "metadata.name=a"
    assert asked.call.path.endswith("/namespaces/sea/charts")
    assert asked.closed


async def test_a_wait_for_an_end_sees_it(testbed: ClientTestbed) -> None:
    doing, asked = await testbed.ask(testbed.client.wait(chart("a"), lambda obj: obj is None, 30))
    asked.accept()
    asked.say(added(chart("a", "1")), bookmark("5", initial=True), deleted(chart("a", "6")))

    assert await doing is None


async def test_a_wait_is_not_for_ever(testbed: ClientTestbed) -> None:
    began = monotonic()
    doing, asked = await testbed.ask(
        testbed.client.wait_for(Chart, "a", "sea", until=lambda obj: obj is not None, timeout=30)
    )
    asked.accept()
    asked.say(bookmark("5", initial=True))

    with pytest.raises(TimeoutError):
        await doing
    assert monotonic() - began == 30
    assert asked.closed
