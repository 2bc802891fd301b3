"""When nothing is left to do: nothing queued, in flight, or due before the next resync.

A key that waits for its time is waited for too, as it may do something then. One that comes up
again and again and changes nothing is a poll, and counts as quiet once it was looked at since the
last change. Time jumps from one timer to the next, so waiting costs nothing.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from quintant.core.clock import monotonic
from quintant.runtime.controller.controller import Controller
from quintant.runtime.manager.engine import Engine
from quintant.testing.loop import VirtualLoop, settle

Waiting = dict[tuple[int, str, Any], float]
"""When each key is due, by process, controller and key."""


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
    calm: float
    bound: float

    async def wait(self, patience: float = math.inf) -> None:
        """Return when the world is quiet; NeverQuiet after `bound` seconds.

        With `patience`, return after so many seconds whether or not it is.
        """
        began = since = monotonic()
        seen, first = -1, Waiting()
        while True:
            await settle()
            now = monotonic()
            if self.changes() != seen:
                seen, first, since = self.changes(), Waiting(), now
            if now - began > patience:
                return
            if now - began > self.bound:
                raise NeverQuiet(self._busy(now))
            if not self._idle():
                await self._next_timer()
                continue
            waiting = self._waiting()
            first = {key: first.get(key, due) for key, due in waiting.items()}
            wakes = [due for key, due in waiting.items() if due <= first[key]]
            until = _earliest(wakes, before=began + self.bound, calm=since + self.calm, now=now)
            if until is None:
                return
            await asyncio.sleep(until - now)

    def _idle(self) -> bool:
        if self.settling():
            return False
        return all(engine.started.is_set() and engine.idle for engine in self.engines())

    def _waiting(self) -> Waiting:
        return {
            (number, controller.name, key): due
            for number, engine in enumerate(self.engines())
            for controller in engine.controllers
            for key, due in controller.queue.due().items()
        }

    async def _next_timer(self) -> None:
        """Let time pass until the next timer rings, and what follows from it happen."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop), "exploration runs under virtual time"
        rings = loop.next_timer()
        if math.isinf(rings):
            raise NeverQuiet(self._busy(loop.time()))
        await asyncio.sleep(max(0.0, rings - loop.time()))

    def _busy(self, now: float) -> str:
        lines = (_told(each, now) for engine in self.engines() for each in engine.controllers)
        return "; ".join(lines) or "no manager has started"


def _earliest(wakes: list[float], *, before: float, calm: float, now: float) -> float | None:
    """When to look again; None if there is nothing to wait for."""
    found = [due for due in wakes if due <= before]
    if now < calm:
        found.append(calm)
    return min(found, default=None)


def _told(controller: Controller[Any], now: float) -> str:
    queue = controller.queue
    waits = ", ".join(f"{key} in {due - now:.3g} s" for key, due in queue.due().items())
    return f"{controller.name}: {len(queue)} ready, {queue.processing_count()} under way" + (
        f", waiting {waits}" if waits else ""
    )
