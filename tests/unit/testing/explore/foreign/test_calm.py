"""Calm is counted by looks."""

from __future__ import annotations

from quintant.testing.explore.foreign.calm import LATE, STARVED, Calm

USUAL = 0.5


def test_looks_that_come_in_time_count_whole() -> None:
    calm = Calm(USUAL)
    for number in range(1, 5):
        calm.look(USUAL, number * USUAL)
    assert (calm.seconds, calm.waited) == (4 * USUAL, 4 * USUAL)


def test_a_look_that_comes_late_counts_for_little() -> None:
    calm = Calm(USUAL)
    calm.look(100 * USUAL, 100 * USUAL)
    assert (calm.seconds, calm.waited) == (LATE * USUAL, LATE * USUAL)


def test_what_happens_ends_the_calm_and_not_the_wait() -> None:
    calm = Calm(USUAL)
    calm.look(USUAL, USUAL)
    calm.look(USUAL, USUAL / 2)
    assert (calm.seconds, calm.waited) == (USUAL / 2, 2 * USUAL)


def test_who_gets_no_processor_is_waited_for_longer() -> None:
    calm = Calm(USUAL)
    calm.look(USUAL, USUAL, starved=True)
    assert calm.waited == STARVED * USUAL
