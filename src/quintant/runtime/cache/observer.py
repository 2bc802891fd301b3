"""What an informer tells whoever counts: that it connects again, and that a read was ahead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from quintant.runtime.cache.states import Outcome

Restart = Literal["timeout", "idle", "410", "error", "eof"]
REASONS: Mapping[Outcome, Restart] = {
    Outcome.ENDED: "timeout",
    Outcome.IDLE: "idle",
    Outcome.EXPIRED: "410",
    Outcome.SHORT: "eof",
}


class Observer(Protocol):
    """Who counts what an informer does."""

    def restarted(self, kind: str, reason: Restart) -> None:
        """A watch was opened again."""

    def overlaid(self) -> None:
        """A read would have been stale without the overlay."""
