"""The lines of a work queue: order, and no pile of superseded entries."""

from __future__ import annotations

import itertools
import sys

from quintant.runtime.workqueue.slots import Slot, Slots


def test_lower_ranks_come_first_and_equal_ranks_in_order_of_arrival() -> None:
    line: Slots[str] = Slots(itertools.count())
    for key, rank in (("c", 2.0), ("a", 1.0), ("d", 2.0), ("b", 1.0)):
        line.push(rank, Slot(key, 0, 0.0))
    keys = []
    while slot := line.pop():
        keys.append(slot.key)
    assert keys == ["a", "b", "c", "d"]


def test_a_slot_stands_only_where_it_was_pushed_last() -> None:
    tickets = itertools.count()
    here: Slots[str] = Slots(tickets)
    there: Slots[str] = Slots(tickets)
    slot = Slot("a", 0, 0.0)
    here.push(1, slot)
    here.push(2, slot)
    there.push(1, slot)
    assert here.head() is None
    assert there.pop() is slot
    assert there.pop() is None


def test_a_slot_pushed_for_ever_takes_no_more_memory() -> None:
    line: Slots[str] = Slots(itertools.count())
    slot = Slot("a", 0, 0.0)
    for rank in range(10_000):
        line.push(rank, slot)
    assert sys.getrefcount(slot) < 200
    assert line.pop() is slot
    assert line.pop() is None
