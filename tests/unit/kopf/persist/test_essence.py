"""What counts as the content of an object, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.kopf.persist.essence import (
    AnnotationsDiffBaseStorage,
    MultiDiffBaseStorage,
    StatusDiffBaseStorage,
)
from quintant.kopf.values.patch import Patch

OBJECT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "A",
    "metadata": {
        "name": "a",
        "uid": "1",
        "labels": {"x": "y"},
        "annotations": {
            "note": "1",
            "kopf.zalando.org/fn": "{}",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
    },
    "spec": {"size": 1},
    "status": {"phase": "Ready", "other": 1},
    "data": {"a": "b"},
}


def test_content_is_spec_data_labels_and_annotations_of_people() -> None:
    assert AnnotationsDiffBaseStorage().build(body=OBJECT) == {
        "spec": {"size": 1},
        "data": {"a": "b"},
        "metadata": {"labels": {"x": "y"}, "annotations": {"note": "1"}},
    }


def test_a_field_that_a_handler_names_counts_wherever_it_is() -> None:
    found = AnnotationsDiffBaseStorage().build(body=OBJECT, extra_fields=[("status", "phase")])
    assert found["status"] == {"phase": "Ready"}


def test_fields_that_are_ignored_do_not_count() -> None:
    storage = AnnotationsDiffBaseStorage(ignored_fields=["data.a", "nothing.there"])
    assert "data" not in storage.build(body=OBJECT)


@pytest.mark.parametrize(
    "storage",
    [
        AnnotationsDiffBaseStorage(),
        AnnotationsDiffBaseStorage(prefix="mine.dev", key="last"),
        StatusDiffBaseStorage(),
        MultiDiffBaseStorage([StatusDiffBaseStorage(), AnnotationsDiffBaseStorage()]),
    ],
)
def test_what_is_kept_is_found_again_and_counts_as_no_change(storage: Any) -> None:
    essence, patch = storage.build(body=OBJECT), Patch()
    storage.store(body=OBJECT, patch=patch, essence=essence)
    kept = patch.applied(OBJECT)
    assert storage.fetch(body=kept) == essence
    assert storage.build(body=kept) == essence
    assert storage.fetch(body=OBJECT) is None


@pytest.mark.parametrize("text", ["{", "[]", "7", "[" * 100_000])
def test_what_others_made_of_it_is_as_if_it_were_not_there(text: str) -> None:
    annotations = {"kopf.zalando.org/last-handled-configuration": text}
    body = {"metadata": {"annotations": annotations}}
    assert AnnotationsDiffBaseStorage().fetch(body=body) is None
