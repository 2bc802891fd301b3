"""slowStartBatch: many creations or deletions at once, in batches that double.

Batches begin with one and double with each that succeeds; after a failure no further one is begun.
So a quota or a refusing webhook meets one request, not a thousand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from quintant.core.errors import ApiError

BURST = 500
"""Pods made or deleted for one object before its next turn."""

Work = Callable[[], Awaitable[ApiError | None]]
"""Something to be done, and how the server refused it."""


async def slow_start(count: int, work: Work) -> ApiError | None:
    """Do something so many times in growing batches; the first refusal, if there is one."""
    done, size = 0, 1
    while done < count:
        size = min(size, count - done)
        refusal = await run_all([work] * size)
        if refusal is not None:
            return refusal
        done, size = done + size, size * 2
    return None


async def run_all(works: Sequence[Work]) -> ApiError | None:
    """Do things at once, each to its end; the first refusal, if there is one."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_done(work)) for work in works]
    return next(filter(None, (task.result() for task in tasks)), None)


async def _done(work: Work) -> ApiError | None:
    return await work()
