"""What an informer reports to metrics: that it connects again, and that a read was ahead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from quintant.runtime.watch.watch_states import WatchOutcome

RestartReason = Literal["timeout", "idle", "410", "error", "eof", "outdated"]
REASONS: Mapping[WatchOutcome, RestartReason] = {
    WatchOutcome.ENDED: "timeout",
    WatchOutcome.IDLE: "idle",
    WatchOutcome.EXPIRED: "410",
    WatchOutcome.SHORT: "eof",
    WatchOutcome.OUTDATED: "outdated",
}


class CacheObserver(Protocol):
    """Who counts what an informer does."""

    def restarted(self, kind: str, reason: RestartReason) -> None:
        """A watch was opened again."""

    def overlaid(self) -> None:
        """A read would have been stale without the overlay."""
