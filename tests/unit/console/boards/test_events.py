"""Events, old and new, as rows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.console.boards.events import EventView, event_row
from quintant.console.links import TEXT_LENGTH
from quintant.core import codec

META = {
    "name": "a", "namespace": "default", "uid": "1", "resourceVersion": "1",
    "creationTimestamp": "2026-01-01T00:00:00Z",
}  # fmt: skip


def row(**fields: Any) -> dict[str, Any]:
    raw = msgspec.json.encode({"metadata": META, **fields})
    found: dict[str, Any] = event_row(codec.decode(EventView, raw)).fields
    return found


@pytest.mark.parametrize(
    ("fields", "time", "count"),
    [
        ({}, "2026-01-01T00:00:00Z", 1),
        ({"eventTime": "2026-01-02T00:00:00Z"}, "2026-01-02T00:00:00Z", 1),
        ({"series": {"count": 3, "lastObservedTime": "2026-01-03T00:00:00Z"}},
         "2026-01-03T00:00:00Z", 3),
        ({"deprecatedLastTimestamp": "2026-01-04T00:00:00Z", "deprecatedCount": 5},
         "2026-01-04T00:00:00Z", 5),
        ({"eventTime": None, "series": None, "deprecatedCount": None},
         "2026-01-01T00:00:00Z", 1),
    ],
)  # fmt: skip
def test_time_and_number_are_those_of_the_last_time(
    fields: dict[str, Any], time: str, count: int
) -> None:
    found = row(**fields)
    assert (found["time"], found["count"]) == (time, count)


@pytest.mark.parametrize(
    ("regarding", "link"),
    [
        ({"apiVersion": "v1", "kind": "Pod", "namespace": "a", "name": "b"},
         "/objects/core/v1/pods/a/b"),
        ({"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "a", "name": "b"},
         "/objects/apps/v1/deployments/a/b"),
        ({"apiVersion": "demo.dev/v1", "kind": "Greeter", "namespace": "a", "name": "b"},
         "/objects/demo.dev/v1/greeters/a/b"),
        ({}, ""),
        ({"apiVersion": "v1", "kind": "Secret", "namespace": "a", "name": "b"}, ""),
    ],
)  # fmt: skip
def test_an_event_leads_to_what_it_is_about(regarding: dict[str, str], link: str) -> None:
    assert row(regarding=regarding)["object"]["link"] == link


def test_a_long_note_is_cut() -> None:
    assert len(row(note="x" * 100_000)["message"]) < TEXT_LENGTH + 20
