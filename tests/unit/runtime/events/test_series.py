from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.core import Node, Pod
from quintant.api.events import Event, EventSeries
from quintant.api.meta import ObjectReference
from quintant.core.object import ObjectMeta
from quintant.runtime.events.series import (
    BURST,
    IDLE_SECONDS,
    NAME_BYTES,
    REFILL_SECONDS,
    REFRESH_SECONDS,
    EventBudget,
    EventKey,
    EventSeriesEntry,
    SeriesAction,
    SeriesStep,
    build_event,
    event_name,
    next_step,
    object_reference,
    truncate,
)

NOW = datetime(2026, 5, 4, 3, 2, 1, 500, tzinfo=UTC)
LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = re.compile(rf"{LABEL}(\.{LABEL})*")
POD = Pod(metadata=ObjectMeta(name="web", namespace="shop", uid="u1", resource_version="9"))


def entry(
    *, seen: float = 0.0, count: int = 1, written: int = 0, written_at: float = 0.0
) -> EventSeriesEntry:
    return EventSeriesEntry(Event(), seen, NOW, count, written, written_at)


@pytest.mark.parametrize(
    ("held", "now", "expected"),
    [
        (entry(), 0.0, SeriesStep(SeriesAction.WRITE)),
        (entry(count=500), 0.0, SeriesStep(SeriesAction.WRITE)),
        (entry(written=1), 0.0, SeriesStep(SeriesAction.WAIT, IDLE_SECONDS)),
        (entry(count=2, written=1), 0.0, SeriesStep(SeriesAction.WRITE)),
        (entry(count=2, written=2), 0.0, SeriesStep(SeriesAction.WAIT, IDLE_SECONDS)),
        (entry(count=9, written=2), 10.0, SeriesStep(SeriesAction.WAIT, IDLE_SECONDS)),
        (
            entry(count=9, written=2, seen=1700),
            1701,
            SeriesStep(SeriesAction.WAIT, REFRESH_SECONDS),
        ),
        (entry(count=9, written=2, seen=1700), REFRESH_SECONDS, SeriesStep(SeriesAction.WRITE)),
        (entry(count=9, written=2), IDLE_SECONDS, SeriesStep(SeriesAction.WRITE)),
        (entry(count=9, written=9), IDLE_SECONDS, SeriesStep(SeriesAction.FORGET)),
        (entry(count=9, written=9), IDLE_SECONDS - 1, SeriesStep(SeriesAction.WAIT, IDLE_SECONDS)),
        (entry(written=1), IDLE_SECONDS, SeriesStep(SeriesAction.FORGET)),
    ],
)
def test_series_is_written_at_its_first_second_and_last_and_every_half_hour(
    held: EventSeriesEntry, now: float, expected: SeriesStep
) -> None:
    assert next_step(held, now) == expected


@given(
    count=st.integers(1, 5), written=st.integers(0, 5), seen=st.floats(0, 1e5),
    written_at=st.floats(0, 1e5), after=st.floats(0, 1e5),
)  # fmt: skip
def test_entry_that_waits_wakes_later_than_now(
    count: int, written: int, seen: float, written_at: float, after: float
) -> None:
    now = seen + after
    needs = next_step(entry(seen=seen, count=count, written=written, written_at=written_at), now)

    assert needs.do is not SeriesAction.WAIT or needs.at > now


def test_single_occurrence_has_no_series_and_a_repeated_one_has() -> None:
    held = entry()
    assert held.current.series is None

    held.record(5.0, NOW)
    assert held.current.series == EventSeries(
        count=2, last_observed_time="2026-05-04T03:02:01.000500Z"
    )


def test_allowance_lets_a_burst_pass_and_then_one_per_refill() -> None:
    allowance = EventBudget()
    assert [allowance.take(1000.0) for _ in range(BURST + 2)] == [True] * BURST + [False, False]

    assert not allowance.take(1000.0 + REFILL_SECONDS / 2)
    assert allowance.take(1000.0 + REFILL_SECONDS)
    assert not allowance.take(1000.0 + REFILL_SECONDS)


@given(st.text(), st.integers(0, 40))
def test_cut_text_fits_and_is_a_prefix_in_whole_characters(text: str, limit: int) -> None:
    kept = truncate(text, limit)

    assert len(kept.encode()) <= limit
    assert text.encode("utf-8", "replace").decode().startswith(kept)
    assert len(kept.encode()) > limit - 4 or kept == text.encode("utf-8", "replace").decode()


@given(st.text(max_size=300), st.integers(1, 2**63))
def test_event_name_is_always_valid(regarding: str, stamp: int) -> None:
    name = event_name(regarding, stamp)

    assert len(name) <= NAME_BYTES
    assert SUBDOMAIN.fullmatch(name)
    assert name.endswith(f".{stamp:x}")


@given(st.from_regex(SUBDOMAIN, fullmatch=True).filter(lambda name: len(name) < 250))
def test_event_name_begins_with_that_of_its_object(regarding: str) -> None:
    assert event_name(regarding, 1) == f"{regarding}.1"


def test_reference_names_the_object_and_not_a_version_of_it() -> None:
    expected = ObjectReference(api_version="v1", kind="Pod", name="web", namespace="shop", uid="u1")

    assert object_reference(POD) == expected
    assert object_reference(ObjectReference(name="web", resource_version="9")) == ObjectReference(
        name="web"
    )


def test_event_is_written_where_its_object_is() -> None:
    key = EventKey("Warning", "Scale", "Failed", "portal", "portal-0", object_reference(POD), None)
    event = build_event(key, "x" * 2000, NOW, 0xABC)

    assert (event.metadata.name, event.metadata.namespace) == ("web.abc", "shop")
    assert event.event_time == "2026-05-04T03:02:01.000500Z"
    assert (event.type, event.action, event.reason) == ("Warning", "Scale", "Failed")
    assert (event.reporting_controller, event.reporting_instance) == ("portal", "portal-0")
    assert len(event.note) == 1024
    assert event.series is None


def test_event_about_an_object_without_namespace_is_written_to_the_default_one() -> None:
    node = object_reference(Node(metadata=ObjectMeta(name="n1")))
    key = EventKey("Normal", "Drain", "Drained", "portal", "portal-0", node, None)

    assert build_event(key, "", NOW, 1).metadata.namespace == "default"
