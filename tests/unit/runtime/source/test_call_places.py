"""So many are in at once; the others wait in the order they came, and none is lost."""

from __future__ import annotations

import asyncio

from quintant.runtime.source.call_places import CallPlaces
from quintant.testing.loop import settle


class Guests:
    """Who is in."""

    def __init__(self, most: int) -> None:
        self.places, self.inside = CallPlaces(most), list[str]()

    async def visit(self, name: str, leave: asyncio.Event) -> None:
        async with self.places:
            self.inside.append(name)
            await leave.wait()
            self.inside.remove(name)


async def test_who_waits_is_let_in_when_there_are_more_places_and_nobody_is_put_out() -> None:
    guests, leave = Guests(1), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(guests.visit(name, leave))
        await settle()
        assert guests.inside == ["a"]
        guests.places.resize(2)
        await settle()
        assert guests.inside == ["a", "b"]
        guests.places.resize(1)
        await settle()
        assert guests.inside == ["a", "b"]
        leave.set()
    assert guests.inside == []


async def test_a_place_is_not_lost_with_one_who_was_cancelled_as_it_came_free() -> None:
    guests, first, second = Guests(1), asyncio.Event(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(guests.visit("a", first))
        await settle()
        waiting = group.create_task(guests.visit("b", second))
        given_up = group.create_task(guests.visit("c", second))
        group.create_task(guests.visit("d", second))
        await settle()
        given_up.cancel()
        # In the same step: b is let in, and cancelled before it has run.
        first.set()
        guests.places.resize(2)
        waiting.cancel()
        await settle()
        assert guests.inside == ["d"]
        second.set()
