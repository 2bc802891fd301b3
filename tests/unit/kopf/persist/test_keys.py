"""Annotations have the names that kopf gives them, so that either finds what the other kept."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.kopf.persist.keys import annotation_names, foreign_prefixes, mark_prefix

LONG = "a_handler_with_a_very_long_name_indeed_that_no_annotation_can_hold/spec.field"
OWNED = {"kind": "ReplicaSet", "metadata": {"ownerReferences": [{"kind": "Deployment"}]}}


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("create_fn", ["kopf.zalando.org/create_fn"]),
        ("fn/sub<x>", ["kopf.zalando.org/fn.sub_x_"]),
        (
            LONG,
            [
                "kopf.zalando.org/a_handler_with_a_very_long_name_indeed_that_no_annotatio-tAdsIQ",
                "kopf.zalando.org/a_handler_with_a_very_long_name_indeed_-TpXJOA",
            ],
        ),
    ],
)
def test_a_name_fits_and_is_the_same_every_time(key: str, names: list[str]) -> None:
    found = annotation_names("kopf.zalando.org", key, {}, older=True)
    assert found == names
    assert all(len(name.partition("/")[2]) <= 63 for name in found)
    assert annotation_names("kopf.zalando.org", key, {}, older=False) == names[:1]


def test_what_a_controller_copies_from_an_owner_has_another_name() -> None:
    assert annotation_names("a.b", "fn", OWNED, older=False) == ["a.b/fn-ofDRS"]


def test_other_operators_are_known_by_their_mark() -> None:
    names = ["mine.dev/kopf-managed", "mine.dev/x", "other.dev/x", "a.kopf.zalando.org/y", "plain"]
    assert foreign_prefixes(names) == {"mine.dev", "a.kopf.zalando.org"}


def test_a_prefix_of_ones_own_is_marked_once() -> None:
    patch: dict[str, Any] = {}
    mark_prefix("mine.dev", {}, patch)
    mark_prefix("kopf.zalando.org", {}, patch)
    assert patch == {"metadata": {"annotations": {"mine.dev/kopf-managed": "yes"}}}
