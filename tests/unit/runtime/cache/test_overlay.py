"""Promises of quintant.runtime.cache.overlay: we read what we wrote, and nothing older."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from quintant.core.object import Request
from quintant.runtime.cache.indexer import Indexer
from quintant.runtime.cache.overlay import (
    EXPIRY_SECONDS,
    Overlay,
    version_precedes,
    version_reached,
)
from quintant.testing.loop import VirtualLoop, advance, run
from unit.runtime.cache.api_model import CacheRun
from unit.runtime.kinds import Chart, chart

A = Request("a", "sea")


class Cache:
    """A store with its overlay."""

    def __init__(self, *objects: Chart) -> None:
        self.store: Indexer[Chart] = Indexer()
        self.overlay = Overlay(self.store)
        for obj in objects:
            self.overlay.observe_update(obj.key, obj)

    @property
    def seen(self) -> str | None:
        """The version that a read gives."""
        found = self.store.get(A)
        return found.metadata.resource_version if found is not None else None

    @property
    def delivered(self) -> str | None:
        found = self.overlay.delivered(A)
        return found.metadata.resource_version if found is not None else None


@pytest.mark.parametrize(
    ("seen", "wanted", "yes"),
    [
        ("5", "5", True),
        ("10", "9", True),
        ("9", "10", False),
        ("", "5", False),
        ("x", "x", True),
        ("x", "y", False),
        ("5", "x", False),
        ("²", "1", False),
    ],
)
def test_versions_are_compared_as_numbers_or_not_at_all(seen: str, wanted: str, yes: bool) -> None:
    assert version_reached(seen, wanted) is yes


def test_only_numbers_precede_each_other() -> None:
    assert version_precedes("9", "10")
    assert not version_precedes("10", "9")
    assert not version_precedes("9", "9")
    assert not version_precedes("a", "b")
    assert not version_precedes("9", "")


async def test_a_write_is_seen_before_the_watch_brings_it() -> None:
    cache = Cache(chart("a", "1"))

    cache.overlay.record_write(chart("a", "5"))

    assert (cache.seen, cache.delivered) == ("5", "1")
    assert A in cache.overlay


async def test_a_created_object_is_seen_and_was_never_delivered() -> None:
    cache = Cache()

    cache.overlay.record_write(chart("a", "5"))

    assert (cache.seen, cache.delivered) == ("5", None)
    assert set(cache.overlay.list_keys()) == {A}


async def test_an_older_event_does_not_hide_a_write() -> None:
    cache = Cache(chart("a", "1"))
    cache.overlay.record_write(chart("a", "5"))

    cache.overlay.observe_update(A, chart("a", "3"))

    assert (cache.seen, cache.delivered) == ("5", "3")


@pytest.mark.parametrize("version", ["5", "6"])
async def test_the_watch_catches_up(version: str) -> None:
    cache = Cache(chart("a", "1"))
    cache.overlay.record_write(chart("a", "5"))

    cache.overlay.observe_update(A, chart("a", version))

    assert (cache.seen, len(cache.overlay)) == (version, 0)


async def test_an_answer_older_than_what_is_seen_changes_nothing() -> None:
    cache = Cache(chart("a", "5"))

    cache.overlay.record_write(chart("a", "5"))
    cache.overlay.record_write(chart("a", "4"))

    assert (cache.seen, len(cache.overlay)) == ("5", 0)


async def test_a_write_nobody_confirms_is_forgotten() -> None:
    cache = Cache(chart("a", "1"))
    cache.overlay.record_write(chart("a", "5"))
    cache.overlay.observe_update(A, chart("a", "3"))

    await advance(EXPIRY_SECONDS - 0.1)
    assert cache.seen == "5"
    await advance(0.1)

    assert (cache.seen, len(cache.overlay)) == ("3", 0)


async def test_a_creation_nobody_confirms_is_forgotten() -> None:
    cache = Cache()
    cache.overlay.record_write(chart("a", "5"))

    await advance(EXPIRY_SECONDS)

    assert cache.seen is None


async def test_each_write_has_its_whole_life() -> None:
    cache = Cache(chart("a", "1"))
    cache.overlay.record_write(chart("a", "5"))
    await advance(EXPIRY_SECONDS - 1)
    cache.overlay.record_write(chart("a", "6"))
    await advance(EXPIRY_SECONDS - 1)

    assert (cache.seen, cache.delivered) == ("6", "1")


async def test_a_deleted_object_is_hidden_from_then_on() -> None:
    cache = Cache(chart("a", "1"))

    cache.overlay.record_delete(A, "a", "1")
    cache.overlay.observe_update(A, chart("a", "2"))

    assert (cache.seen, cache.delivered) == (None, "2")


async def test_a_deleted_object_that_was_not_seen_yet_is_hidden_when_it_comes() -> None:
    cache = Cache()

    cache.overlay.record_delete(A, "a", "3")
    cache.overlay.observe_update(A, chart("a", "2"))
    cache.overlay.observe_update(A, chart("a", "3"))

    assert cache.seen is None


async def test_a_deletion_without_uid_hides_whatever_is_there() -> None:
    cache = Cache(chart("a", "1", uid="old"))

    cache.overlay.record_delete(A, "", "")
    assert cache.seen is None
    cache.overlay.observe_update(A, chart("a", "2", uid="old"))
    assert cache.seen is None
    cache.overlay.observe_update(A, chart("a", "3", uid="new"))

    assert cache.seen == "3"


async def test_a_deletion_without_uid_of_nothing_known_does_nothing() -> None:
    cache = Cache()

    cache.overlay.record_delete(A, "", "")

    assert len(cache.overlay) == 0


async def test_a_deletion_does_not_hide_a_newer_namesake() -> None:
    cache = Cache(chart("a", "7", uid="new"))

    cache.overlay.record_delete(A, "old", "3")

    assert cache.seen == "7"


async def test_a_deletion_hides_an_older_namesake_too() -> None:
    cache = Cache(chart("a", "1", uid="old"))

    cache.overlay.record_delete(A, "new", "5")

    assert cache.seen is None


async def test_a_namesake_after_a_deletion_is_seen() -> None:
    cache = Cache(chart("a", "1", uid="old"))
    cache.overlay.record_delete(A, "old", "1")

    cache.overlay.observe_update(A, chart("a", "5", uid="new"))

    assert (cache.seen, len(cache.overlay)) == ("5", 0)


async def test_a_namesake_we_create_after_a_deletion_is_seen() -> None:
    cache = Cache(chart("a", "1", uid="old"))
    cache.overlay.record_delete(A, "old", "1")

    cache.overlay.record_write(chart("a", "5", uid="new"))
    cache.overlay.observe_update(A, chart("a", "2", uid="old"))
    cache.overlay.observe_delete(A, "old", "3")

    assert (cache.seen, cache.delivered) == ("5", None)


async def test_the_past_of_a_namesake_does_not_end_a_deletion() -> None:
    cache = Cache(chart("a", "1", uid="first"))
    cache.overlay.record_delete(A, "first", "1")
    cache.overlay.record_write(chart("a", "5", uid="second"))
    cache.overlay.record_delete(A, "second", "5")

    for late in (chart("a", "2", uid="first"), chart("a", "5", uid="second")):
        cache.overlay.observe_update(A, late)
        assert cache.seen is None
        cache.overlay.observe_delete(A, "first", "3")
        assert cache.seen is None


async def test_a_late_answer_does_not_bring_back_the_deleted() -> None:
    cache = Cache(chart("a", "1"))
    cache.overlay.record_delete(A, "a", "1")

    cache.overlay.record_write(chart("a", "2"))

    assert cache.seen is None


async def test_a_deletion_by_others_takes_our_write_away() -> None:
    cache = Cache(chart("a", "1"))
    cache.overlay.record_write(chart("a", "5"))

    cache.overlay.observe_delete(A, "a", "6")

    assert (cache.seen, len(cache.overlay)) == (None, 0)


async def test_what_left_the_selection_before_our_write_is_seen_still() -> None:
    cache = Cache(chart("a", "1"))
    cache.overlay.record_write(chart("a", "5"))

    cache.overlay.observe_delete(A, "a", "3")

    assert (cache.seen, cache.delivered) == ("5", None)


async def test_a_confirmed_deletion_is_remembered_all_the_same() -> None:
    cache = Cache(chart("a", "1"))
    cache.overlay.record_delete(A, "a", "1")

    # It left the selection, came back, and was deleted: we know of the end only.
    cache.overlay.observe_delete(A, "a", "2")
    cache.overlay.observe_update(A, chart("a", "3"))
    assert cache.seen is None
    cache.overlay.observe_absence(A, "4")
    assert cache.seen is None

    await advance(EXPIRY_SECONDS)
    assert (cache.seen, len(cache.overlay)) == (None, 0)


async def test_a_deletion_nobody_confirms_is_forgotten() -> None:
    cache = Cache(chart("a", "1"))
    cache.overlay.record_delete(A, "a", "1")

    await advance(EXPIRY_SECONDS)

    assert cache.seen == "1"


async def test_a_list_older_than_our_write_does_not_take_it_away() -> None:
    cache = Cache(chart("a", "1"))
    cache.overlay.record_write(chart("a", "5"))

    cache.overlay.observe_absence(A, "4")
    assert (cache.seen, cache.delivered) == ("5", None)
    cache.overlay.observe_absence(A, "5")

    assert (cache.seen, len(cache.overlay)) == (None, 0)


async def test_versions_that_are_no_numbers_cost_an_expiry_and_no_stale_read() -> None:
    cache = Cache(chart("a", "one"))
    cache.overlay.record_write(chart("a", "two"))

    cache.overlay.observe_update(A, chart("a", "between"))
    assert cache.seen == "two"
    cache.overlay.observe_update(A, chart("a", "two"))
    assert (cache.seen, len(cache.overlay)) == ("two", 0)

    cache.overlay.record_write(chart("a", "three"))
    cache.overlay.observe_delete(A, "a", "four")
    assert cache.seen is None


async def test_closing_leaves_no_timer() -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    before = loop.timers()
    cache = Cache()
    for number in range(10):
        cache.overlay.record_write(chart(f"a{number}", "5"))
    assert loop.timers() == before + 10

    cache.overlay.close()

    assert (loop.timers(), len(cache.overlay)) == (before, 0)


KEYS = st.sampled_from([Request("a", "sea"), Request("a", "sea"), Request("b", "sea")])
OURS = st.sampled_from([True, True, False])
STEPS = st.one_of(
    st.tuples(st.just("write"), KEYS, OURS),
    st.tuples(st.just("delete"), KEYS),
    st.tuples(st.just("answer"), st.integers(0, 3)),
    # Answered at once, as most are.
    st.tuples(st.just("wrote"), KEYS, OURS),
    st.tuples(st.just("deleted"), KEYS),
    st.tuples(st.just("others_write"), KEYS, OURS),
    st.tuples(st.just("others_delete"), KEYS),
    st.tuples(st.just("deliver"), st.integers(1, 2)),
    st.tuples(st.just("deliver"), st.integers(1, 2)),
    st.tuples(st.sampled_from(["interrupt", "compact"])),
    st.tuples(st.just("pass_time"), st.sampled_from([0.5, 4.0, 11.0])),
)


async def play(steps: list[tuple[object, ...]]) -> None:
    run = CacheRun()
    await run.begin()
    for name, *args in steps:
        pending = getattr(run, str(name))(*args)
        if pending is not None:
            await pending
        run.check()
    await run.arrive()
    run.check()
    run.check_arrived()
    await advance(EXPIRY_SECONDS)
    run.check_arrived()
    assert len(run.informer.overlay) == 0
    await run.close()


# It left the selection and came back before we deleted it; we hear of it in that order.
@example(
    [("write", A, True), ("write", A, False), ("deliver", 1), ("write", A, True), ("deleted", A),
     ("deliver", 2)]
)  # fmt: skip
# The answer to an older deletion comes after that to a newer one.
@example(
    [("others_write", A, True), ("delete", A), ("write", A, True), ("deleted", A), ("answer", 0),
     ("answer", 0)]
)  # fmt: skip
@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, max_size=30))
def test_whatever_happens_when_nothing_we_did_is_undone(steps: list[tuple[object, ...]]) -> None:
    with capture_logs():
        run(play(steps))
