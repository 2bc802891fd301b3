"""Where the keys of a work queue stand: one slot per key, in the waiting or in the ready line.

`workqueue.py` moves slots between its two lines; this module only keeps them in order. A slot
stands where it was pushed last, and nowhere else.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator
from enum import Enum, auto
from typing import Generic, TypeVar

from quintant.core.enums import fast_members

# Entries a line may hold before it looks for superseded ones; below, they are not worth a look.
ROOMY_ENTRIES = 64

T = TypeVar("T", bound=Hashable)


@fast_members
class SlotState(Enum):
    """Where a key is; a key that is nowhere is absent."""

    WAITING = auto()
    """Its time has not come."""
    READY = auto()
    """The next free worker gets it, if nothing comes before it."""
    PROCESSING = auto()
    """A worker has it."""
    DIRTY = auto()
    """A worker has it, and it was added again meanwhile."""


LEASED = (SlotState.PROCESSING, SlotState.DIRTY)


class Slot(Generic[T]):
    """The one place a key has in the queue; `since` is when it became ready, or was leased."""

    __slots__ = ("due", "key", "priority", "since", "state", "ticket")

    def __init__(self, key: T, priority: int, due: float) -> None:
        self.key: T = key
        self.priority: int = priority
        self.due: float = due
        self.state: SlotState = SlotState.WAITING
        self.since: float = due
        self.ticket: int = -1


class Slots(Generic[T]):
    """Slots by rank, then by arrival. A slot stands only where it was pushed last.

    Lines share their tickets: pushing a slot anywhere supersedes its older entries everywhere,
    and those are dropped when they are met, or when the line has doubled.
    """

    def __init__(self, tickets: Iterator[int]) -> None:
        self._tickets = tickets
        self._entries: list[tuple[float, int, Slot[T]]] = []
        self._roomy = ROOMY_ENTRIES

    def push(self, rank: float, slot: Slot[T]) -> None:
        slot.ticket = next(self._tickets)
        heapq.heappush(self._entries, (rank, slot.ticket, slot))
        if len(self._entries) > self._roomy:
            self._entries = [entry for entry in self._entries if entry[2].ticket == entry[1]]
            heapq.heapify(self._entries)
            self._roomy = max(ROOMY_ENTRIES, 2 * len(self._entries))

    def head(self) -> Slot[T] | None:
        while self._entries:
            _, ticket, slot = self._entries[0]
            if slot.ticket == ticket:
                return slot
            heapq.heappop(self._entries)
        return None

    def pop(self) -> Slot[T] | None:
        while self._entries:
            _, ticket, slot = heapq.heappop(self._entries)
            if slot.ticket == ticket:
                return slot
        return None

    def clear(self) -> None:
        self._entries.clear()
