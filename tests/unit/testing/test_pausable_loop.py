"""Promises of quintant.testing.pausable_loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context, ContextVar, copy_context

from quintant.testing.loop import run
from quintant.testing.pausable_loop import PausableLoop

WHOSE: ContextVar[str | None] = ContextVar("whose", default=None)


def in_two_processes(play: Callable[[PausableLoop, list[str]], Awaitable[None]]) -> list[str]:
    """What two processes note, each every second of its own time, until the play is over."""
    noted: list[str] = []

    async def tick(name: str) -> None:
        while True:
            await asyncio.sleep(1)
            noted.append(f"{name}{asyncio.get_running_loop().time():g}")

    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, PausableLoop)
        tasks = []
        for name in ("a", "b"):
            context = copy_context()
            context.run(WHOSE.set, name)
            tasks.append(loop.create_task(tick(name), context=context))
        await play(loop, noted)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run(main(), loop=PausableLoop(WHOSE))
    return noted


def test_what_belongs_to_a_paused_process_is_held_back_and_nothing_else() -> None:
    async def play(loop: PausableLoop, noted: list[str]) -> None:
        await asyncio.sleep(1.5)
        loop.pause("a")
        await asyncio.sleep(2)
        assert noted == ["a1", "b1", "b2", "b3"]
        loop.resume("a")
        await asyncio.sleep(1.1)

    assert in_two_processes(play) == ["a1", "b1", "b2", "b3", "a3.5", "b4", "a4.5"]


def test_a_timer_that_was_cancelled_before_its_process_goes_on_does_not_ring() -> None:
    rung: list[str] = []

    async def play(loop: PausableLoop, noted: list[str]) -> None:
        context = copy_context()
        context.run(WHOSE.set, "a")
        timer = loop.call_later(0.5, rung.append, "rung", context=context)
        loop.pause("a")
        await asyncio.sleep(1)
        timer.cancel()
        loop.resume("a")
        await asyncio.sleep(0.1)

    in_two_processes(play)
    assert rung == []


def test_a_process_that_ends_while_it_is_paused_ends_when_it_goes_on() -> None:
    async def play(loop: PausableLoop, noted: list[str]) -> None:
        loop.pause("b")
        await asyncio.sleep(2.5)
        loop.resume("b")

    assert in_two_processes(play) == ["a1", "a2"]


def test_an_empty_context_is_nobodys() -> None:
    resumed: list[str] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, PausableLoop)
        WHOSE.set("a")
        # What a paused process asked to be done by somebody else, in a thread where nothing is set.
        loop.call_later(1, resumed.append, "later", context=Context())
        loop.call_soon(resumed.append, "soon", context=Context())
        loop.pause("a")
        loop.call_later(2, loop.resume, "a", context=Context())
        await asyncio.sleep(3)

    run(main(), loop=PausableLoop(WHOSE))
    assert resumed == ["soon", "later"]
