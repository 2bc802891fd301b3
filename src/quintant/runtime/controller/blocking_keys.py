"""Keys whose reconcile holds up the event loop, and with it every other key of the process.

A reconcile that computes without an end at one object (a pattern that backtracks, a list that was
never meant to be so long) would stop everybody each time it is retried. A key that did so three
times for more than five seconds is tried once an hour, whatever wakes it in between: who wrote the
object may write it again and again.
"""

from __future__ import annotations

from msgspec import Struct

from quintant.core.object import Request

BLOCKED_SECONDS = 5.0
"""A reconcile that holds the loop up for longer counts."""
MOST_BLOCKS = 3
HELD_SECONDS = 3600.0
"""Between two tries of a key that blocked so often."""
FORGOTTEN_SECONDS = 2 * HELD_SECONDS
"""Without a block: long enough for one try that does well."""


class RunningReconcile(Struct, frozen=True):
    """The reconcile that a task runs."""

    controller: str
    key: Request

    def __str__(self) -> str:
        return f"{self.controller} {self.key}"


class _Blocks(Struct):
    count: int
    last: float


class BlockingKeys:
    """How often each key of a controller held up the loop of late."""

    __slots__ = ("blocks",)

    def __init__(self) -> None:
        self.blocks: dict[Request, _Blocks] = {}
        """What is known of keys that blocked the loop; empty, as a rule."""

    def count(self, key: Request, now: float) -> int:
        """The reconcile of this key held up the loop; returns how often it did by now."""
        self._forget(now)
        blocks = self.blocks.setdefault(key, _Blocks(0, now))
        blocks.count, blocks.last = blocks.count + 1, now
        return blocks.count

    def wait(self, key: Request, now: float) -> float:
        """Seconds until this key may be tried again; 0 for all that did not block too often."""
        blocks = self.blocks.get(key)
        if blocks is None or blocks.count < MOST_BLOCKS:
            return 0.0
        return max(0.0, blocks.last + HELD_SECONDS - now)

    def _forget(self, now: float) -> None:
        late = [k for k, b in self.blocks.items() if now - b.last > FORGOTTEN_SECONDS]
        for key in late:
            del self.blocks[key]
