"""Keys that are reconciled again and again without rest: they wake themselves, or each other.

A reconcile that writes something else each time is woken by its own write; two controllers undo
each other; a `Result(after=0)` asks for it. Nothing fails, so nothing is reported, while the API
server is kept busy. A key that is worked on 300 times within a minute, five times a second, is
named: a roll-out of a thousand children wakes its owner as often, yet not for a minute.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from quintant.core.object import Request
from quintant.runtime.observe.logs import get_logger

HOT_RECONCILES = 300
HOT_SECONDS = 60.0

log: Final = get_logger()


class HotLoops:
    """How often each key of a controller was reconciled of late, counted by the minute."""

    def __init__(self, controller: str) -> None:
        self._controller = controller
        self._since = 0.0
        self._counts: dict[Request, int] = {}
        self._before: Mapping[Request, int] = {}

    def count(self, key: Request, now: float) -> None:
        """A reconcile of this key ended."""
        if now - self._since >= HOT_SECONDS:
            self._roll(now)
        counted = self._counts[key] = self._counts.get(key, 0) + 1
        if counted == HOT_RECONCILES:
            self._say(key, now)

    def counts(self) -> Mapping[Request, int]:
        """How often each key was reconciled in the minute that has not ended."""
        return self._counts

    def hot(self, now: float) -> dict[Request, int]:
        """The keys without rest in this minute or the one before, and how often they were."""
        if now - self._since >= HOT_SECONDS:
            self._roll(now)
        return {**self._before, **_hot(self._counts)}

    def _roll(self, now: float) -> None:
        # After a minute in which nothing was counted, nothing is hot.
        ended = now - self._since < 2 * HOT_SECONDS
        self._before = _hot(self._counts) if ended else {}
        self._counts, self._since = {}, now

    def _say(self, key: Request, now: float) -> None:
        log.warning(
            "reconciled without rest",
            controller=self._controller,
            object=str(key),
            times=HOT_RECONCILES,
            seconds=round(now - self._since, 1),
            hint="does its own write wake it? compare before writing, or filter with when=",
        )


def _hot(counts: Mapping[Request, int]) -> dict[Request, int]:
    return {key: count for key, count in counts.items() if count >= HOT_RECONCILES}
