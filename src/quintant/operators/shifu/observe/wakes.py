"""Keys to be looked at for something that is no change of theirs, such as a node that is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from quintant.core.object import Request
from quintant.runtime.controller.sources import SourceContext
from quintant.runtime.controller.workqueue import Workqueue

URGENT = 100
"""The priority of an evacuation: before everything else."""


class WakeSource:
    """A source that others in the process add keys to; before its controller runs, nobody hears."""

    def __init__(self) -> None:
        self._queue: Workqueue[Request] | None = None

    async def __call__(self, context: SourceContext) -> None:
        self._queue = context.queue
        try:
            await asyncio.Future()
        finally:
            self._queue = None

    @property
    def running(self) -> bool:
        """Whether anybody hears: this process is the leader."""
        return self._queue is not None

    def wake(self, *keys: Request, priority: int = 0) -> None:
        """Have keys looked at."""
        self.wake_all(keys, priority=priority)

    def wake_all(self, keys: Iterable[Request], *, priority: int = 0) -> None:
        """Have many keys looked at, in their order."""
        if self._queue is not None:
            for key in keys:
                self._queue.add(key, priority=priority)
