"""failedPodsBackoff: how long a node waits for another pod after one that failed."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct, field

from quintant.core.clock import monotonic
from quintant.core.object import Request

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 15 * 60.0


class BackoffEntry(NamedTuple):
    """Until when nothing is done, and how long that is."""

    until: float
    seconds: float


NEVER = BackoffEntry(float("-inf"), 0.0)


class FailedPodsBackoff(Struct):
    """Failures of DaemonSets, by node."""

    _held: dict[Request, dict[str, BackoffEntry]] = field(default_factory=dict)

    def seconds_left(self, daemons: Request, node: str) -> float:
        """How many seconds are to be waited yet."""
        return max(0.0, self._wait(daemons, node).until - monotonic())

    def record_failure(self, daemons: Request, node: str) -> None:
        """Wait twice as long as before; as long as in the beginning if that was long ago."""
        before = self._wait(daemons, node)
        forgiven = monotonic() - before.until > 2 * LONGEST_SECONDS
        seconds = FIRST_SECONDS if forgiven else min(2 * before.seconds, LONGEST_SECONDS)
        self._held.setdefault(daemons, {})[node] = BackoffEntry(monotonic() + seconds, seconds)

    def forget(self, daemons: Request) -> None:
        """A DaemonSet is gone."""
        self._held.pop(daemons, None)

    def _wait(self, daemons: Request, node: str) -> BackoffEntry:
        return self._held.get(daemons, {}).get(node, NEVER)
