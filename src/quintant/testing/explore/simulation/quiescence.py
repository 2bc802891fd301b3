"""When nothing is left to do: nothing queued, in flight, or due before the next resync.

A key that waits for its time is waited for too, as it may do something then. One that comes up
again and again and changes nothing is a poll, and counts as quiet once it was looked at since the
last change. Time jumps from one timer to the next, so waiting costs nothing.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from quintant.core.clock import monotonic
from quintant.runtime.controller.controller import Controller
from quintant.runtime.manager.engine import Engine
from quintant.testing.loop import VirtualLoop, settle

# A key that fails is tried so often before it counts as one that will go on failing; with delays
# that double, that is a few seconds.
FAILED_TRIES = 10

Key = tuple[int, str, Any]
"""A process, a controller, and a key of it."""


@dataclass(frozen=True, slots=True)
class WaitingKey:
    """A key that waits for its time."""

    due: float
    failing: bool
    tries: int = 0
    """How often it came up since the last change, and changed nothing."""

    @property
    def done(self) -> bool:
        """Whether there is nothing to be expected of it."""
        return self.tries >= (FAILED_TRIES if self.failing else 1)

    def after(self, before: WaitingKey | None) -> WaitingKey:
        """The same with the tries that it has behind it."""
        if before is None:
            return self
        return replace(self, tries=before.tries + (self.due > before.due))


class NeverQuiet(Exception):
    """The world went on for longer than its bound; the text says who."""


@dataclass(slots=True)
class Quiescence:
    """Waits for the end of all work."""

    engines: Callable[[], Iterable[Engine]]
    """The managers that run."""
    changes: Callable[[], int]
    """A number that grows with every change of the world."""
    settling: Callable[[], bool]
    """Whether somebody else has something to do still."""
    hurried: Callable[[], bool]
    """Whether something is to follow even if the world does not get quiet."""
    calm: float
    bound: float
    patience: float

    async def wait(self) -> None:
        """Return when the world is quiet; NeverQuiet after `bound` seconds.

        While it is `hurried`, return after `patience` seconds whether or not it is.
        """
        began = since = monotonic()
        seen, known, hurried = -1, dict[Key, WaitingKey](), math.inf
        while True:
            await settle()
            now = monotonic()
            if self.changes() != seen:
                seen, known, since = self.changes(), {}, now
            hurried = min(hurried, now) if self.hurried() else math.inf
            if now - hurried > self.patience:
                return
            if now - began > self.bound:
                raise NeverQuiet(self._busy(now))
            if not self._idle():
                await self._next_timer()
                continue
            known = {key: each.after(known.get(key)) for key, each in self._waiting()}
            wakes = [each.due for each in known.values() if not each.done]
            until = _earliest(wakes, before=began + self.bound, calm=since + self.calm, now=now)
            if until is None:
                return
            await asyncio.sleep(until - now)

    def _idle(self) -> bool:
        if self.settling():
            return False
        return all(engine.started.is_set() and engine.idle for engine in self.engines())

    def _waiting(self) -> Iterator[tuple[Key, WaitingKey]]:
        for number, engine in enumerate(self.engines()):
            for each in engine.controllers:
                for key, due in each.queue.due().items():
                    yield (number, each.name, key), WaitingKey(due, each.failures(key) > 0)

    async def _next_timer(self) -> None:
        """Let time pass until the next timer rings, and what follows from it happen."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop), "exploration runs under virtual time"
        rings = loop.next_timer()
        if math.isinf(rings):
            raise NeverQuiet(self._busy(loop.time()))
        await asyncio.sleep(max(0.0, rings - loop.time()))

    def _busy(self, now: float) -> str:
        lines = (
            _controller_line(each, now) for engine in self.engines() for each in engine.controllers
        )
        return "; ".join(lines) or "no manager has started"


def _earliest(wakes: list[float], *, before: float, calm: float, now: float) -> float | None:
    """When to look again; None if there is nothing to wait for."""
    found = [due for due in wakes if due <= before]
    if now < calm:
        found.append(calm)
    return min(found, default=None)


def _controller_line(controller: Controller[Any], now: float) -> str:
    queue = controller.queue
    waits = ", ".join(f"{key} in {due - now:.3g} s" for key, due in queue.due().items())
    return f"{controller.name}: {len(queue)} ready, {queue.processing_count()} under way" + (
        f", waiting {waits}" if waits else ""
    )
