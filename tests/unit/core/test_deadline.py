"""A limit of time that costs a timer only where something is waited for."""

from __future__ import annotations

import asyncio

import pytest

from quintant.core.clock import monotonic
from quintant.core.deadline import DeadlineExpired, bounded
from quintant.testing.loop import VirtualLoop


async def at_once() -> str:
    return "here"


async def later(seconds: float) -> str:
    await asyncio.sleep(seconds)
    await asyncio.sleep(0)
    return "here"


async def test_what_does_not_wait_sets_no_timer() -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    before = len(loop._scheduled)
    assert await bounded(at_once(), 1.0) == "here"
    assert len(loop._scheduled) == before


async def test_what_waits_long_enough_returns() -> None:
    assert await bounded(later(0.9), 1.0) == "here"
    assert monotonic() == pytest.approx(0.9)


async def test_what_takes_longer_ends_with_the_limit() -> None:
    with pytest.raises(DeadlineExpired):
        await bounded(later(2.0), 1.0)
    assert monotonic() == pytest.approx(1.0)


async def test_the_work_learns_of_its_end_where_it_waits() -> None:
    ended: list[float] = []

    async def tidy() -> None:
        try:
            await asyncio.sleep(5)
        finally:
            ended.append(monotonic())

    with pytest.raises(DeadlineExpired):
        await bounded(tidy(), 1.0)
    assert ended == [1.0]


async def test_a_cancelled_task_is_cancelled_and_not_late() -> None:
    task = asyncio.ensure_future(bounded(later(5.0), 10.0))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_limit_inside_another_is_told_apart_from_it() -> None:
    async def inner() -> str:
        try:
            return await bounded(later(9.0), 1.0)
        except DeadlineExpired:
            return await later(3.0)

    assert await bounded(inner(), 5.0) == "here"
    with pytest.raises(DeadlineExpired):
        await bounded(inner(), 3.0)


@pytest.mark.parametrize("wait", [0.0, 1.0])
async def test_what_the_work_raises_is_raised(wait: float) -> None:
    async def failing() -> None:
        if wait:
            await asyncio.sleep(wait)
        raise TimeoutError("somebody else's")

    with pytest.raises(TimeoutError, match="somebody else's") as caught:
        await bounded(failing(), 5.0)
    assert not isinstance(caught.value, DeadlineExpired)
