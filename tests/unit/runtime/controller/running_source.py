"""A source that runs without a controller, and what it woke."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from quintant.core.clock import Random
from quintant.core.object import Request
from quintant.runtime.source.sources import Source, SourceContext
from quintant.runtime.workqueue.workqueue import Workqueue
from quintant.testing import settle


@asynccontextmanager
async def running(
    source: Source, grace: float = 0.0, failed: Callable[[], object] = lambda: None
) -> AsyncIterator[Workqueue[Request]]:
    """Run a source meanwhile; the queue is where it wakes keys."""
    queue = Workqueue[Request]()
    context = SourceContext(queue, tuple, Random(1), lambda: grace, failed)
    task = asyncio.ensure_future(source(context))
    try:
        yield queue
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def woken(queue: Workqueue[Request]) -> list[Request]:
    """The keys that were woken, taken."""
    await settle()
    keys = []
    for _ in range(len(queue)):
        lease = await queue.get()
        assert lease is not None
        queue.done(lease.key)
        keys.append(lease.key)
    return keys
