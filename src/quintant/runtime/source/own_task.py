"""Work that is awaited in a task of its own, so that nothing is left of how it ended.

Before Python 3.13 a TaskGroup of which a part failed leaves the task that waited for it marked as
cancelled, though nobody cancelled it. What that task does next is then taken for something that is
to end: time limits raise CancelledError in it instead of TimeoutError.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def in_own_task(work: Coroutine[Any, Any, T]) -> T:
    """Await some work; who is cancelled meanwhile cancels it, and waits for its end."""
    return await asyncio.get_running_loop().create_task(work)


def forget_cancellations(task: asyncio.Task[Any]) -> None:
    """Take a task that goes on for one that nobody cancelled."""
    while task.cancelling():
        task.uncancel()
