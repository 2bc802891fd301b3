"""When a program in real time has come to rest, in virtual time."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from quintant.core.clock import monotonic
from quintant.testing.explore.foreign.quiet import LATE_WATCH_SECONDS, ForeignQuiet
from quintant.testing.explore.simulation.quiescence import NeverQuiet

CALM, BOUND = 5.0, 240.0
PODS = frozenset(("/api/v1/pods",))


def quiet(**more: Any) -> ForeignQuiet:
    """Of a program that runs, has no watch open, and does nothing."""
    life = SimpleNamespace(working=True, is_runnable=False, in_flight=0)
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


async def test_a_watch_that_is_not_opened_again_is_waited_for_and_not_for_ever() -> None:
    took = await waited(quiet(), PODS)
    assert LATE_WATCH_SECONDS <= took < LATE_WATCH_SECONDS + 1


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
