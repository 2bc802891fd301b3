from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from quintant.http.deadline import Deadline


async def timed(work: Callable[[Deadline], Awaitable[None]]) -> float:
    """Run some work with a deadline of its own; how long it took."""
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def run() -> None:
        task = asyncio.current_task()
        assert task is not None
        await work(Deadline(task))

    await asyncio.create_task(run())
    return loop.time() - began


async def test_what_takes_too_long_is_ended_in_time() -> None:
    async def work(deadline: Deadline) -> None:
        with pytest.raises(TimeoutError), deadline.within(5):
            await asyncio.sleep(100)

    assert await timed(work) == 5


async def test_what_takes_too_long_is_ended_in_time_after_a_part_of_it_has_failed() -> None:
    async def odd() -> None:
        raise ValueError("odd")

    async def work(deadline: Deadline) -> None:
        with pytest.raises(ExceptionGroup):
            async with asyncio.TaskGroup() as parts:
                parts.create_task(odd())
        with pytest.raises(TimeoutError), deadline.within(5):
            await asyncio.sleep(100)

    assert await timed(work) == 5


async def test_an_end_may_move_away_and_come_nearer() -> None:
    async def work(deadline: Deadline) -> None:
        with deadline.within(5):
            await asyncio.sleep(4)
            deadline.move(10)
            await asyncio.sleep(9)
        with pytest.raises(TimeoutError), deadline.within(100).within(2):
            await asyncio.sleep(50)

    assert await timed(work) == 15


async def test_nothing_rings_between_two_waits() -> None:
    async def work(deadline: Deadline) -> None:
        with deadline.within(5):
            await asyncio.sleep(1)
        await asyncio.sleep(100)
        with pytest.raises(TimeoutError), deadline.within(5):
            await asyncio.sleep(100)

    assert await timed(work) == 106


async def test_who_is_cancelled_is_cancelled_and_not_late() -> None:
    caught: list[BaseException] = []

    async def work(deadline: Deadline) -> None:
        try:
            with deadline.within(5):
                await asyncio.sleep(100)
        except BaseException as error:
            caught.append(error)
            raise

    task = asyncio.ensure_future(timed(work))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not isinstance(caught[0] if caught else None, TimeoutError)


async def test_a_moving_end_costs_one_timer() -> None:
    async def work(deadline: Deadline) -> None:
        loop = asyncio.get_running_loop()
        with deadline.within(5):
            before = loop.timers  # type: ignore[attr-defined]
            for _ in range(1000):
                deadline.move(6)
            assert loop.timers == before  # type: ignore[attr-defined]

    await timed(work)
