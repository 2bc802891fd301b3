"""How far handlers are, in the form in which kopf keeps it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from quintant.kopf.declare.handlers import Handler, HandlerKind
from quintant.kopf.persist.progress import (
    ChangeProgress,
    HandlerOutcome,
    deliver_results,
    progress_of,
)
from quintant.kopf.persist.storages import (
    AnnotationsProgressStorage,
    SmartProgressStorage,
    StatusProgressStorage,
)
from quintant.kopf.values.patch import Patch

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=2)
BODY: dict[str, Any] = {"metadata": {"name": "a"}}


def handler(id: str) -> Handler:
    return Handler(kind=HandlerKind.CHANGE, fn=print, id=id)


def test_a_record_is_what_kopf_would_read() -> None:
    progress = ChangeProgress.begin([], NOW).pursue("create", [handler("fn")])
    failed = HandlerOutcome(False, delay=5, exception=ValueError("no"))
    patch = Patch()
    progress.after({"fn": failed}, LATER).store(SmartProgressStorage(), BODY, patch)
    annotations = patch["metadata"]["annotations"]
    assert json.loads(annotations["kopf.zalando.org/fn"]) == {
        "started": "2026-01-01T00:00:00.000000+00:00",
        "delayed": "2026-01-01T00:00:07.000000+00:00",
        "purpose": "create",
        "retries": 1,
        "success": False,
        "failure": False,
        "message": "no",
    }


@pytest.mark.parametrize("storage", [AnnotationsProgressStorage(), StatusProgressStorage()])
def test_what_is_kept_is_found_again_and_taken_away(storage: Any) -> None:
    begun = ChangeProgress.begin([], NOW).pursue("create", [handler("fn"), handler("other")])
    kept = begun.after({"fn": HandlerOutcome(True, result=1)}, LATER)
    patch = Patch()
    kept.store(storage, BODY, patch)
    body = patch.applied(BODY)
    found = ChangeProgress.fetch(storage, body, [handler("fn"), handler("other")], LATER)
    assert found["fn"].success
    assert found["other"].due(LATER)
    assert not any(each.changed for each in found.values())
    away = Patch()
    found.purge(storage, body, away, [handler("fn"), handler("other")])
    assert away.applied(body) == BODY


def test_times_of_older_versions_have_no_zone() -> None:
    found = progress_of({"started": "2026-01-01T00:00:00.000000", "retries": 3}, LATER)
    assert (found.started, found.retries) == (NOW, 3)


@pytest.mark.parametrize("record", [{"started": 7}, {"retries": "x"}, {"subrefs": 3}, {}])
def test_a_record_that_others_edited_is_believed_as_far_as_it_means_something(
    record: dict[str, Any],
) -> None:
    assert progress_of(record, NOW).due(NOW)


def test_results_go_below_the_ids_of_their_handlers() -> None:
    patch = Patch({"status": {"a": {"kept": 1}}})
    outcomes = {
        "a": HandlerOutcome(True, result={"x": 1}),
        "b": HandlerOutcome(True, result=[1]),
        "c": HandlerOutcome(True),
        "d": HandlerOutcome(True, result=1, exception=ValueError()),
    }
    deliver_results(outcomes, patch)
    assert patch["status"] == {"a": {"kept": 1, "x": 1}, "b": [1]}
