"""Garbage of runs is searched for after each of them, and as ever after that."""

from __future__ import annotations

import gc
import weakref

from quintant.testing.explore.simulation.garbage import MANY_OBJECTS, collected_afterwards


class Cycle:
    """Something that keeps itself."""

    def __init__(self) -> None:
        self.itself = self


def test_what_a_run_leaves_in_circles_is_gone_after_it() -> None:
    with collected_afterwards():
        left = weakref.ref(Cycle())
    assert left() is None


def test_a_run_is_searched_only_if_it_makes_many_objects() -> None:
    before = gc.get_threshold()
    with collected_afterwards():
        assert gc.get_threshold()[0] == MANY_OBJECTS
    assert gc.get_threshold() == before
