"""Events on transitions of conditions: from the conditions before and after, and a table. Pure.

Everything follows from two statuses, so a pass in which nothing changes says nothing, and a
restarted controller does not repeat what was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from quintant.api.events import EventType, PlannedEvent
from quintant.api.meta import Condition, condition_of


class Transition(Struct, frozen=True):
    """A condition that takes on a status or a reason, and the event that reports it."""

    condition: str
    """The condition's type."""
    status: str = ""
    """What it becomes: True, False or Unknown; empty leaves that to the reason."""
    reason: str = ""
    """The reason that it takes on; empty takes any."""
    type: EventType = "Warning"
    event: str = ""
    """The event's reason; empty is the condition's."""
    note: str = ""
    """The event's text; empty is the condition's message."""
    action: str = ""

    def holds(self, condition: Condition | None) -> bool:
        """Whether a condition is what this transition leads to."""
        return (
            condition is not None
            and self.status in ("", condition.status)
            and self.reason in ("", condition.reason)
        )


def transition_events(
    before: Sequence[Condition], after: Sequence[Condition], table: Iterable[Transition]
) -> Iterator[PlannedEvent]:
    """The events that report the conditions `after`, in the order of the table."""
    for row in table:
        now = condition_of(after, row.condition)
        if (
            now is not None
            and row.holds(now)
            and not row.holds(condition_of(before, row.condition))
        ):
            yield PlannedEvent(
                row.type, row.event or now.reason, row.note or now.message, row.action
            )
