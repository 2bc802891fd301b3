"""A limit of time is one in every task, also in one that is being cancelled or lost a part."""

from __future__ import annotations

import asyncio

import pytest

import quintant


async def odd() -> None:
    raise ValueError("odd")


async def late() -> bool:
    """Whether something that takes too long raises TimeoutError."""
    try:
        async with asyncio.timeout(5):
            await asyncio.sleep(100)
    except TimeoutError:
        return True
    return False


async def test_time_limit_runs_out_in_a_task_of_which_a_part_has_failed() -> None:
    assert quintant.__name__
    with pytest.raises(ExceptionGroup):
        async with asyncio.TaskGroup() as parts:
            parts.create_task(odd())
    assert await late()


async def test_time_limit_runs_out_while_a_cancelled_task_tidies_up() -> None:
    found: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.sleep(100)
        finally:
            found.append(await late())

    task = asyncio.create_task(work())
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert found == [True]


async def test_who_is_cancelled_within_a_time_limit_is_cancelled() -> None:
    async def work() -> None:
        async with asyncio.timeout(5):
            await asyncio.sleep(100)

    task = asyncio.create_task(work())
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
