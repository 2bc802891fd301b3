"""Promises of quintant.runtime.cache.partial.partial_informer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from quintant.client.rest import Rest
from quintant.core.clock import Random
from quintant.core.errors import NotHeld
from quintant.core.object import Object, Request
from quintant.runtime.cache.informer import ObjectChange
from quintant.runtime.cache.partial.keep_rules import KeepRule
from quintant.runtime.cache.partial.partial_informer import PartialInformer
from quintant.testing.loop import advance, settle
from unit.runtime.kinds import Ship, ship
from unit.runtime.scripted_transport import (
    Asked,
    ScriptedTransport,
    added,
    bookmark,
    deleted,
    error,
    modified,
    page,
)

A, B = Request("a", "sea"), Request("b", "sea")


def rig_of(obj: Ship) -> list[Request]:
    return [Request(obj.spec.rig, "sea")]


def key_of(obj: Object) -> list[Request]:
    return [Request(obj.metadata.name, obj.metadata.namespace)]


class World:
    """A partial informer at work, the keys that are held, and what handlers hear."""

    def __init__(self, *, to: Any = key_of, decodes: bool = False) -> None:
        self.server, self.held = ScriptedTransport(), {A}
        self.informer: PartialInformer[Ship] = PartialInformer(
            Rest(self.server), Ship, random=Random(0)
        )
        self.informer.add_rule(KeepRule(to, lambda key: key in self.held, decodes))
        self.heard: list[str] = []
        self.informer.subscribe(self._hear)
        self.task = asyncio.ensure_future(self.informer.run())

    def _hear(self, change: ObjectChange[Ship]) -> None:
        old, new = (each.metadata.resource_version if each else "" for each in change[:2])
        seen = change.new or change.old
        assert seen is not None
        self.heard.append(f"{seen.metadata.name}:{old}>{new}{'!' * change.initial}")

    async def state(self, *objects: Any, version: str = "5") -> Asked:
        """Answer the next request with a whole state."""
        asked = await self.server.asked()
        asked.accept()
        asked.say(*map(added, objects), bookmark(version, initial=True))
        await settle()
        return asked

    def names(self) -> list[str]:
        return sorted(obj.metadata.name for obj in self.informer.store)

    def foreign(self) -> list[str]:
        return sorted(key.name for key in self.informer.foreign)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    await close(world)


async def close(world: World) -> None:
    assert not world.task.done()
    world.task.cancel()
    await asyncio.wait({world.task})


async def test_only_what_is_ours_is_held_and_of_the_rest_is_known_that_it_is_there(
    world: World,
) -> None:
    await world.state(ship("a", "1"), ship("b", "2"))

    assert world.informer.synced
    assert (world.names(), world.foreign()) == (["a"], ["b"])
    assert world.heard == ["a:>1!"]
    with pytest.raises(NotHeld, match="try: read with live=True"):
        world.informer.get(B)
    assert world.informer.get(Request("c", "sea")) is None


async def test_events_of_others_move_the_version_and_are_told_to_nobody(world: World) -> None:
    asked = await world.state(ship("a", "1"), ship("b", "2"))
    world.heard.clear()
    asked.say(modified(ship("b", "7")), added(ship("c", "8")))
    await settle()
    assert world.informer.reflectors[0].version == "8"
    asked.say(deleted(ship("b", "9")), bookmark("12"))
    await settle()

    assert world.informer.reflectors[0].version == "12"
    assert (world.foreign(), world.heard) == (["c"], [])


async def test_an_expired_watch_reads_again_with_what_others_hold(world: World) -> None:
    asked = await world.state(ship("a", "1"), ship("b", "2"))
    world.heard.clear()
    asked.say(error(410))
    await world.state(ship("a", "1"), ship("c", "7"), version="9")

    assert (world.names(), world.foreign(), world.heard) == (["a"], ["c"], [])


async def test_what_becomes_ours_comes_with_a_consistent_read_and_is_no_news(world: World) -> None:
    await world.state(ship("a", "1"), ship("b", "2"))
    world.heard.clear()
    world.held.add(B)
    reading = asyncio.ensure_future(world.informer.read_anew())
    asked = await world.server.asked()
    assert "resourceVersion" not in asked.query
    assert world.names() == ["a"], "what is held is there meanwhile"
    asked.accept()
    asked.say(added(ship("a", "1")), added(ship("b", "2")))
    await settle()
    assert not reading.done()
    asked.say(bookmark("6", initial=True))
    await settle()

    assert reading.done()
    assert (world.names(), world.foreign(), world.heard) == (["a", "b"], [], ["b:>2!"])


async def test_a_read_that_began_before_is_not_enough(world: World) -> None:
    first = await world.server.asked()
    first.accept()
    first.say(added(ship("a", "1")))
    await settle()
    reading = asyncio.ensure_future(world.informer.read_anew())
    await settle()
    first.say(bookmark("5", initial=True))
    await settle()
    assert not reading.done()
    await world.state(ship("a", "1"))

    assert reading.done()


async def test_pages_are_read_to_their_end_whoever_holds_what_is_in_them(world: World) -> None:
    (await world.server.asked()).fail(422)
    (await world.server.asked()).answer(page(ship("b", "2"), version="5", more="token"))
    last = await world.server.asked()
    assert last.query["continue"] == "token"
    last.answer(page(ship("a", "1"), version="5"))
    await settle()

    assert (world.names(), world.foreign()) == (["a"], ["b"])
    assert world.informer.synced


async def test_several_who_wait_share_a_read_that_began_after_all_of_them(world: World) -> None:
    await world.state(ship("a", "1"))
    waiting = [asyncio.ensure_future(world.informer.read_anew()) for _ in range(3)]
    await world.state(ship("a", "1"))

    assert all(each.done() for each in waiting)
    assert world.informer.synced


async def test_a_read_that_is_refused_is_made_again_until_it_comes(world: World) -> None:
    await world.state(ship("a", "1"))
    reading = asyncio.ensure_future(world.informer.read_anew())
    asked = await world.server.asked()
    asked.fail(503)
    await advance(40)
    assert not reading.done()
    await world.state(ship("a", "1"))

    assert reading.done()


async def test_what_is_evicted_is_told_to_nobody_and_stays_known(world: World) -> None:
    world.held.add(B)
    asked = await world.state(ship("a", "1"), ship("b", "2"))
    world.heard.clear()
    world.held.discard(B)
    asked.say(modified(ship("b", "6")))
    await settle()
    assert world.heard == ["b:2>6"], "it is followed until it is evicted"
    world.informer.evict()

    assert (world.names(), world.foreign(), world.heard) == (["a"], ["b"], ["b:2>6"])
    asked.say(deleted(ship("b", "8")))
    await settle()
    assert (world.foreign(), world.heard) == ([], ["b:2>6"])


async def test_a_state_that_comes_while_a_range_is_lost_tells_of_no_deletion(world: World) -> None:
    world.held.add(B)
    asked = await world.state(ship("a", "1"), ship("b", "2"))
    world.heard.clear()
    world.held.discard(B)
    asked.say(error(410))
    again = await world.server.asked()
    again.accept()
    again.say(added(ship("a", "1")), added(ship("b", "2")))
    await settle()
    world.informer.evict()
    again.say(bookmark("9", initial=True))
    await settle()

    assert (world.names(), world.foreign(), world.heard) == (["a"], ["b"], [])


async def test_an_object_that_maps_to_others_now_is_news_for_whom_it_mapped_to() -> None:
    world = World(to=rig_of, decodes=True)
    world.held = {Request("sloop", "sea")}
    asked = await world.state(ship("a", "1"), ship("b", "2", rig="ketch"))
    assert (world.names(), world.foreign()) == (["a"], ["b"])
    asked.say(modified(ship("a", "6", rig="ketch")), modified(ship("b", "7")))
    await settle()

    assert world.heard[1:] == ["a:1>6", "b:>7"]
    assert (world.names(), world.foreign()) == (["b"], ["a"])
    await close(world)


async def test_a_kind_that_somebody_needs_whole_is_held_whole(world: World) -> None:
    world.informer.add_rule(None)
    asked = await world.state(ship("a", "1"), ship("b", "2"))
    asked.say(modified(ship("b", "6")))
    await settle()
    world.informer.evict()

    assert (world.names(), world.foreign()) == (["a", "b"], [])


async def test_our_own_write_to_what_others_hold_is_not_held(world: World) -> None:
    await world.state(ship("a", "1"), ship("b", "2"))
    world.informer.record_write(ship("b", "6"))
    world.informer.record_write(ship("a", "7"))

    assert world.names() == ["a"]
    assert world.informer.get(A) == ship("a", "7")
    with pytest.raises(NotHeld):
        world.informer.get(B)


async def test_what_does_not_fit_its_type_is_left_to_whoever_holds_it(world: World) -> None:
    head = {"name": "b", "namespace": "sea", "uid": "b", "resourceVersion": "2"}
    misfit = {"metadata": head, "spec": {"crew": "many"}}
    world.held.add(B)
    asked = await world.state(ship("a", "1"), misfit)
    assert B in world.informer.undecodable
    world.held.discard(B)
    world.informer.evict()
    assert (dict(world.informer.undecodable), world.foreign()) == ({}, ["b"])
    asked.say(modified({**misfit, "metadata": {**head, "resourceVersion": "8"}}))
    await settle()

    assert (dict(world.informer.undecodable), world.foreign()) == ({}, ["b"])


async def test_a_kind_that_may_be_missing_and_is_is_not_waited_for(world: World) -> None:
    world.informer.optional = True
    (await world.server.asked()).fail(404)
    await settle()
    assert world.informer.absent
    before = asyncio.ensure_future(world.informer.read_anew())
    await settle()
    assert before.done()
    await world.state(ship("a", "1"))
    after = asyncio.ensure_future(world.informer.read_anew())
    (await world.server.asked()).fail(404)
    await settle()

    assert after.done()


async def test_a_stream_that_is_not_open_yet_is_read_anew_when_it_is(world: World) -> None:
    first = await world.state(ship("a", "1"), ship("b", "2"))
    first.end()
    opening = await world.server.asked()
    assert opening.query["resourceVersion"] == "5"
    world.held.add(B)
    reading = asyncio.ensure_future(world.informer.read_anew())
    await settle()
    opening.accept()
    await world.state(ship("a", "1"), ship("b", "2"), version="7")

    assert reading.done()
    assert world.names() == ["a", "b"]
