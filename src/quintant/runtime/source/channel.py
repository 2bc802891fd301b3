"""A source that other code of the process adds keys to: a process ended, a node is lost.

    anything in the process ──add(key)──> Channel ──> queue of the controller it is given to

It is controller-runtime's `source.Channel`, without the buffer: a queue merges keys anyway.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from quintant.core.object import Request
from quintant.runtime.source.sources import MisusedSource, SourceContext
from quintant.runtime.workqueue.key_queue import KeyQueue


class Channel:
    """Wakes keys of one controller from anywhere in its process; pass it to `.on`.

    A key that is added while its controller does not run (before it starts, and on replicas that
    do not lead) is dropped: the controller looks at every object when it starts. With `keep` it is
    kept until then, once, at the highest priority it was added with.
    """

    def __init__(self, *, keep: bool = False) -> None:
        self._keep = keep
        self._kept: dict[Request, int] = {}
        self._queue: KeyQueue | None = None

    async def __call__(self, context: SourceContext) -> None:
        """Pass keys on for as long as the controller runs; a source."""
        if self._queue is not None:
            raise MisusedSource(
                "a Channel is given to two controllers",
                because="a key would reach only one of them",
                hint="make a Channel for each",
            )
        self._queue, kept, self._kept = context.queue, self._kept, {}
        try:
            for key, priority in kept.items():
                context.queue.add(key, priority=priority)
            await asyncio.Future()
        finally:
            self._queue = None

    @property
    def open(self) -> bool:
        """Whether its controller runs, so that keys are looked at: this process leads."""
        return self._queue is not None

    def add(self, *keys: Request, priority: int = 0) -> None:
        """Have keys reconciled, those of a higher priority first."""
        self.add_all(keys, priority=priority)

    def add_all(self, keys: Iterable[Request], *, priority: int = 0) -> None:
        """Have many keys reconciled, in their order; they are not iterated if they are dropped."""
        if self._queue is not None:
            for key in keys:
                self._queue.add(key, priority=priority)
        elif self._keep:
            for key in keys:
                self._kept[key] = max(priority, self._kept.get(key, priority))
