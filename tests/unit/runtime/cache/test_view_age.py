"""Promises of quintant.runtime.cache.view_age."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.runtime.cache.view_age import MOST_READS, ahead_since, keep_reads, proven_at
from quintant.runtime.watch.watch_stream import VersionMark


def mark(at: float, version: object) -> VersionMark:
    return VersionMark(at, str(version))


def test_nothing_is_proven_of_a_watch_that_brought_nothing() -> None:
    assert proven_at("", (), None) is None
    assert proven_at("5", (mark(1, 6),), None) is None


def test_a_view_is_as_new_as_the_last_read_that_it_has_reached() -> None:
    reads = mark(1, 10), mark(2, 20), mark(3, 30)
    assert proven_at("25", reads, None) == 2
    assert ahead_since("25", reads) == 3
    assert ahead_since("30", reads) is None


def test_a_bookmark_is_news_of_the_moment_at_which_it_came() -> None:
    assert proven_at("10", (), mark(7, 10)) == 7
    assert proven_at("10", (mark(5, 10),), mark(7, 10)) == 7


def test_a_bookmark_of_a_server_that_is_behind_its_store_proves_nothing() -> None:
    assert proven_at("10", (mark(2, 9), mark(5, 11)), mark(7, 10)) == 2


def test_a_read_after_a_bookmark_takes_nothing_from_it() -> None:
    assert proven_at("10", (mark(8, 11),), mark(7, 10)) == 7


def test_a_server_that_was_restored_is_not_waited_for() -> None:
    assert keep_reads((mark(1, 900),), mark(2, 100), "90") == (mark(2, 100),)


def test_odd_versions_count_only_when_they_are_equal() -> None:
    reads = keep_reads((mark(1, "x"),), mark(2, "y"), "x")
    assert proven_at("x", reads, None) == 1
    assert proven_at("z", reads, None) is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60))
def test_forgetting_reads_never_makes_a_view_look_newer_and_memory_is_bounded(
    steps: list[tuple[int, int]],
) -> None:
    every: tuple[VersionMark, ...] = ()
    kept: tuple[VersionMark, ...] = ()
    server = reached = 0
    for at, (grown, caught_up) in enumerate(steps):
        server += grown
        reached = min(server, reached + caught_up)
        every = (*every, mark(at, server))
        kept = keep_reads(kept, mark(at, server), str(reached))
        known = proven_at(str(reached), every, None)
        found = proven_at(str(reached), kept, None)
        assert found is None or (known is not None and found <= known)
        assert ahead_since(str(reached), kept) == ahead_since(str(reached), every)
        assert len(kept) <= MOST_READS + 2
