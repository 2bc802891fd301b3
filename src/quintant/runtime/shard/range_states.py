"""What one range is at one member: a state machine without I/O.

    FOREIGN ──take──> TAKING ──taken──> FILLING ──filled──> HELD
       ^                 │                 │                  │ give
       │<────not taken───┘                 └──────give────────┤
       │                                                      v
       └──────────released────── RELEASING <──drained── DRAINING
    any ──lost──> FOREIGN

Keys are taken up while HELD; writes leave while HELD or DRAINING. A range that is being released
never comes back by itself: it is free for all once the map says so.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from quintant.core.enums import fast_members


@fast_members
class RangeState(Enum):
    """Where a range is at this member."""

    # Asked for with every key and every write; Enum's own is a function of Python.
    __hash__: Callable[[object], int] = object.__hash__  # type: ignore[assignment]

    FOREIGN = auto()
    """Free, or another member's."""
    TAKING = auto()
    """The map was asked to name us; whether it does is not known yet."""
    FILLING = auto()
    """Ours in the map; what its holder before wrote may not all be in the caches yet."""
    HELD = auto()
    """At work."""
    DRAINING = auto()
    """No new keys; what is under way ends, and may write."""
    RELEASING = auto()
    """Nothing of it is under way; the map was asked to name nobody."""


@fast_members
class RangeEvent(Enum):
    """What happens to a range."""

    TAKE = auto()
    """The plan takes it."""
    TAKEN = auto()
    """The map names us."""
    NOT_TAKEN = auto()
    """The map, read after we asked, does not name us."""
    FILLED = auto()
    """The caches have everything that was written before it was ours."""
    GIVE = auto()
    """The plan gives it."""
    DRAINED = auto()
    """Nothing of it is under way."""
    RELEASED = auto()
    """The map does not name us any more, as we asked."""
    LOST = auto()
    """This member is buried, or the map was changed by others."""


WORKING = frozenset((RangeState.HELD,))
"""New keys are taken up."""
WRITING = frozenset((RangeState.HELD, RangeState.DRAINING))
"""Writes may leave."""
COMING = frozenset((RangeState.TAKING, RangeState.FILLING))
"""Keys are taken up in a moment."""
OURS = frozenset(set(RangeState) - {RangeState.FOREIGN, RangeState.TAKING})
"""The map names us."""

_STEPS = {
    (RangeState.FOREIGN, RangeEvent.TAKE): RangeState.TAKING,
    # A take whose answer was lost, and that was given up meanwhile.
    (RangeState.FOREIGN, RangeEvent.TAKEN): RangeState.FILLING,
    (RangeState.TAKING, RangeEvent.TAKEN): RangeState.FILLING,
    (RangeState.TAKING, RangeEvent.NOT_TAKEN): RangeState.FOREIGN,
    (RangeState.FILLING, RangeEvent.FILLED): RangeState.HELD,
    (RangeState.FILLING, RangeEvent.GIVE): RangeState.DRAINING,
    (RangeState.HELD, RangeEvent.GIVE): RangeState.DRAINING,
    (RangeState.DRAINING, RangeEvent.DRAINED): RangeState.RELEASING,
    (RangeState.RELEASING, RangeEvent.RELEASED): RangeState.FOREIGN,
}


def next_state(state: RangeState, event: RangeEvent) -> RangeState:
    """What a range is after `event`; one that says nothing in a state changes nothing."""
    if event is RangeEvent.LOST:
        return RangeState.FOREIGN
    return _STEPS.get((state, event), state)
