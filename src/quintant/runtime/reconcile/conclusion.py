"""How a reconcile ends: what `ctx.conclude` writes, reports and returns. Values only.

    plan(observed, outcome) ──> Conclusion ──> ctx.conclude: status, events, error, again

A plan returns one, so that the last line of every reconciler is the same and the decision can be
tested without a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from quintant.api.events import PlannedEvent
from quintant.core.object import St
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class Conclusion(Generic[St]):
    """What follows from one reconcile; every part may be left out.

    `ctx.conclude` takes the parts in this order, and stops at the first that fails: events only
    report a status that was written.
    """

    status: St | None = None
    """The whole status, as `ctx.set_status` writes it. Beside a `change`: what that change makes
    of the status that was read, if the plan has computed it anyway."""
    change: Callable[[St | None], St] | None = None
    """For a status that other controllers write too: from the newest status to the next, as
    `ctx.update_status` makes it. It may run several times, so it must be pure."""
    events: tuple[PlannedEvent, ...] = ()
    """Recorded once the status is written, in this order."""
    again: Result | None = None
    """When to reconcile again; None waits for a change."""
    error: Exception | None = None
    """Raised in the end, instead of returning `again`: the queue retries with its back-off."""

    def changes(self, before: St | None) -> bool:
        """Whether `change` makes another status of the one that was read; False without one."""
        if self.change is None:
            return False
        after = self.status if self.status is not None else self.change(before)
        return after != before

    def result(self) -> Result | None:
        """When to reconcile again; raises the error, if there is one."""
        if self.error is not None:
            raise self.error
        return self.again
