"""Keys wait while the caches of their controller are older than it may act on: `.fresh(within=…)`.

Asked before every reconcile, so what was so is remembered: as a rule it is one comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from quintant.core.clock import Boottime
from quintant.runtime.cache.staleness import ControllerViews
from quintant.runtime.observe.logs import get_logger

# A key that was put back is looked at again so soon: catching up takes moments, or a bookmark.
HELD_SECONDS = 2.0

log: Final = get_logger()


class FreshnessGuard:
    """Holds the keys of one controller while a view of it is older than `within` seconds."""

    def __init__(
        self,
        name: str,
        views: ControllerViews,
        within: float,
        boottime: Boottime,
        held: Callable[[], None],
    ) -> None:
        self._name, self._views, self._within = name, views, within
        self._boottime, self._held = boottime, held
        self._good_until = -math.inf
        self._holds = False

    def wait(self) -> float:
        """Seconds that a key has to wait before it is looked at again; 0 if it may be worked on."""
        now = self._boottime()
        if now <= self._good_until:
            return 0.0
        oldest = self._views.oldest
        behind = oldest.rank() if oldest is not None else 0.0
        if behind <= self._within:
            self._good_until = now + self._within - behind
            self._note(False)
            return 0.0
        self._held()
        self._note(True, oldest.kind if oldest is not None else "", behind)
        return HELD_SECONDS

    def _note(self, holds: bool, kind: str = "", behind: float = 0.0) -> None:
        if holds == self._holds:
            return
        self._holds = holds
        if not holds:
            log.info("reconciling again: the caches have caught up", controller=self._name)
            return
        log.warning(
            "holding reconciles: a cache is behind",
            controller=self._name,
            kind=kind,
            behind=round(behind, 1) if math.isfinite(behind) else "unknown",
            within=self._within,
        )
