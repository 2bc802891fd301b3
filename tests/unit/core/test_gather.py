"""`each`: answers in the order of the items, so many at once, and no task is left over."""

from __future__ import annotations

import asyncio

import pytest

from quintant.core.clock import monotonic
from quintant.core.gather import each


async def double(number: int) -> int:
    await asyncio.sleep(10 - number)
    return number * 2


async def test_answers_are_in_the_order_of_the_items() -> None:
    assert await each(iter([1, 5, 3]), double, limit=8) == [(1, 2), (5, 10), (3, 6)]
    assert await each([], double, limit=8) == []


async def test_no_more_are_asked_at_once_than_the_limit() -> None:
    running, most = 0, 0

    async def ask(_: int) -> None:
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        await asyncio.sleep(1)
        running -= 1

    await each(range(10), ask, limit=3)
    assert (most, monotonic()) == (3, 4.0)


async def test_calls_share_a_semaphore() -> None:
    limit = asyncio.Semaphore(1)

    async def ask(_: int) -> float:
        await asyncio.sleep(1)
        return monotonic()

    one, other = await asyncio.gather(each([1], ask, limit=limit), each([2], ask, limit=limit))
    assert (one, other) == ([(1, 1.0)], [(2, 2.0)])


async def test_first_failure_cancels_the_others_and_is_raised() -> None:
    cancelled: list[int] = []

    async def ask(number: int) -> None:
        if number == 2:
            await asyncio.sleep(1)
            raise ConnectionError("away")
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            cancelled.append(number)
            raise

    with pytest.raises(ExceptionGroup) as raised:
        await each([1, 2, 3], ask, limit=3)
    assert [type(error) for error in raised.value.exceptions] == [ConnectionError]
    assert (sorted(cancelled), monotonic()) == ([1, 3], 1.0)
