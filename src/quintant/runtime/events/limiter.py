"""Events that are not repeated all the time: the same about the same object once a minute.

A reconciler that finds the same thing wrong at every look would report it at every look. The
recorder folds repetitions into a series, which is still a write each. Ask `allows` before such an
event. It is memory, and may be lost: then something is reported once more.
"""

from __future__ import annotations

from collections.abc import Container, Hashable

# Often enough to be among the newest events, seldom enough to be no burden.
REPEAT_SECONDS = 60.0


class EventLimiter:
    """When each reason was last reported of each key."""

    def __init__(self, seconds: float = REPEAT_SECONDS) -> None:
        self._seconds = seconds
        self._last: dict[tuple[Hashable, str], float] = {}

    def allows(self, key: Hashable, reason: str, now: float) -> bool:
        """Whether to report `reason` of `key` (again); if so, it counts as reported now."""
        last = self._last.get((key, reason))
        if last is not None and now - last < self._seconds:
            return False
        self._last[key, reason] = now
        return True

    def retain(self, keys: Container[Hashable]) -> None:
        """Forget all but these."""
        self._last = {entry: at for entry, at in self._last.items() if entry[0] in keys}
