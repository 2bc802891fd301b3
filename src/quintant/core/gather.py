"""Many questions at once, though not too many: what `asyncio.gather` is, with a limit and an owner.

A TaskGroup owns the questions: the first that fails cancels the others, and none outlives the call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
A = TypeVar("A")


async def each(
    items: Iterable[T], ask: Callable[[T], Awaitable[A]], *, limit: int | asyncio.Semaphore
) -> list[tuple[T, A]]:
    """Every item with what `ask` returns for it, in the order of the items.

    At most `limit` are asked at once; a semaphore is a limit that several calls share. An error is
    raised in an ExceptionGroup: let `ask` return what a failed question means, if the others are
    to continue.
    """
    gate = asyncio.Semaphore(limit) if isinstance(limit, int) else limit

    async def answer(item: T) -> A:
        async with gate:
            return await ask(item)

    async with asyncio.TaskGroup() as group:
        tasks = [(item, group.create_task(answer(item))) for item in items]
    return [(item, task.result()) for item, task in tasks]
