"""When a program in real time has come to rest, in virtual time."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextvars import ContextVar, copy_context
from types import SimpleNamespace
from typing import Any

import pytest

from quintant.core.clock import monotonic
from quintant.testing.explore.foreign.quiet import (
    LATE_WATCH_SECONDS,
    MOST_BUSY_SECONDS,
    POLLS,
    ForeignQuiet,
)
from quintant.testing.explore.simulation.quiescence import NeverQuiet
from quintant.testing.loop import run
from quintant.testing.pausable_loop import PausableLoop

CALM, BOUND = 5.0, 240.0
PODS = frozenset(("/api/v1/pods",))


def quiet(**more: Any) -> ForeignQuiet:
    """Of a program that runs, has no watch open, and does nothing."""
    life = SimpleNamespace(working=True, is_runnable=False, in_flight=0, processor_seconds=0.0)
    gateway: Any = SimpleNamespace(watches=[], opened={"": 0.0}, refusals=Counter())
    supervisor: Any = SimpleNamespace(working=[life], started=0.0)
    return ForeignQuiet(gateway, supervisor, 1.0, **more)


async def waited(world: ForeignQuiet, required: frozenset[str]) -> float:
    began = monotonic()
    world.begin()
    await world.wait(required, CALM, BOUND)
    return monotonic() - began


async def test_it_is_quiet_when_nobody_has_written_for_so_long() -> None:
    assert CALM <= await waited(quiet(), frozenset()) < CALM + 1


async def test_every_step_has_its_own_calm() -> None:
    world = quiet()
    await waited(world, frozenset())
    assert CALM <= await waited(world, frozenset()) < CALM + 1


async def test_a_watch_that_is_not_opened_again_is_waited_for_and_not_for_ever() -> None:
    took = await waited(quiet(), PODS)
    assert LATE_WATCH_SECONDS <= took < LATE_WATCH_SECONDS + 1


async def test_who_writes_now_and_then_is_not_waited_for_because_of_a_watch() -> None:
    world = quiet()
    loop = asyncio.get_running_loop()
    for number in range(100):
        loop.call_later(number * CALM * 2, world.wrote, "patch pods default/a")
    took = await waited(world, PODS)
    assert LATE_WATCH_SECONDS <= took < LATE_WATCH_SECONDS + 3 * CALM


async def test_who_writes_again_and_again_is_never_quiet() -> None:
    world = quiet()

    async def write() -> None:
        while True:
            world.wrote("patch pods default/a")
            await asyncio.sleep(CALM / 2)

    async with asyncio.TaskGroup() as group:
        writing = group.create_task(write())
        with pytest.raises(NeverQuiet, match=r"patch pods default/a \(\d+ times\)"):
            await waited(world, frozenset())
        writing.cancel()


async def test_what_goes_on_at_rest_is_no_unrest() -> None:
    world = quiet(polls=frozenset(("patch pods default/a",)))
    asyncio.get_running_loop().call_later(CALM / 2, world.wrote, "patch pods default/a")
    assert await waited(world, frozenset()) < CALM + 1


def write_so_often(world: ForeignQuiet, times: int) -> None:
    loop = asyncio.get_running_loop()
    for number in range(times):
        loop.call_later(number * CALM / 5, world.wrote, "patch pods default/a")


async def test_what_goes_on_when_all_else_is_calm_is_found_to_go_on_at_rest() -> None:
    world = quiet(recording=True)
    write_so_often(world, 1000)
    await waited(world, frozenset())
    assert world.repeated == {"patch pods default/a"}


async def test_what_is_written_often_and_comes_to_its_end_does_not_go_on_at_rest() -> None:
    world = quiet(recording=True)
    write_so_often(world, POLLS + 3)
    asyncio.get_running_loop().call_later(CALM, world.wrote, "patch pods default/b")
    await waited(world, frozenset())
    assert world.repeated == set()


class Worker(SimpleNamespace):
    """A program that wants a processor all the time, and gets its share of one."""

    working, is_runnable, in_flight = True, True, 0

    @property
    def processor_seconds(self) -> float:
        return monotonic() * float(self.share)


@pytest.mark.parametrize("share", [1.0, 0.1])
async def test_who_works_and_writes_nothing_is_waited_for_until_it_has_had_its_time(
    share: float,
) -> None:
    world = quiet()
    working: list[Any] = world.supervisor.working
    working[:] = [Worker(share=share)]
    took = await waited(world, frozenset())
    assert took >= MOST_BUSY_SECONDS / share


HELD: ContextVar[str | None] = ContextVar("HELD", default=None)


def test_time_in_which_nobody_could_look_is_no_calm() -> None:
    """What came while the machine was busy with others is read before the calm is over."""

    async def read(world: ForeignQuiet) -> None:
        await asyncio.sleep(2)
        for _ in range(9):
            # The bytes of a connection become a request in some rounds of the loop.
            await asyncio.sleep(0)
        world.wrote("create pods default/a")

    async def explorer() -> float:
        world = quiet()
        reading = asyncio.create_task(read(world))
        took = await waited(world, frozenset())
        assert world.writes, "it was taken for quiet before what it had sent was read"
        await reading
        return took

    async def held_up() -> float:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, PausableLoop)
        context = copy_context()
        context.run(HELD.set, "explorer")
        waiting = loop.create_task(explorer(), context=context)
        await asyncio.sleep(1)
        loop.pause("explorer")
        await asyncio.sleep(2 * CALM)
        loop.resume("explorer")
        return await waiting

    assert run(held_up(), loop=PausableLoop(HELD)) >= 3 * CALM
