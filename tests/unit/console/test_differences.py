"""Differences of two states, and who wrote them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.console.differences import (
    MOST_DIFFERENCES,
    VALUE_LENGTH,
    differences,
    writer_of,
)
from quintant.console.redact import HIDDEN
from quintant.console.views import FieldOwner


def fields(old: Any, new: Any) -> list[tuple[str, str, str]]:
    return [(each.field, each.old, each.new) for each in differences(old, new)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"spec": {"a": 1}}, {"spec": {"a": 2}}, [(".spec.a", "1", "2")]),
        ({"spec": {"a": 1}}, {"spec": {}}, [(".spec.a", "1", "")]),
        ({}, {"spec": {"a": "x"}}, [(".spec", "", '{"a":"x"}')]),
        (
            {"c": [{"type": "Ready", "status": "False"}, {"type": "Other", "status": "True"}]},
            {"c": [{"type": "Other", "status": "True"}, {"type": "Ready", "status": "True"}]},
            [(".c[Ready].status", "False", "True")],
        ),
        ({"l": [1, 2]}, {"l": [1, 3, 4]}, [(".l[1]", "2", "3"), (".l[2]", "", "4")]),
        ({"metadata": {"resourceVersion": "1"}}, {"metadata": {"resourceVersion": "2"}}, []),
        ({"spec": {"password": "a"}}, {"spec": {"password": "b"}},
         [(".spec.password", HIDDEN, HIDDEN)]),
    ],
)  # fmt: skip
def test_a_difference_names_the_field_and_both_values(
    old: Any, new: Any, expected: list[tuple[str, str, str]]
) -> None:
    assert fields(old, new) == expected


def test_a_huge_change_is_cut() -> None:
    found = differences({"a": dict.fromkeys(map(str, range(1000)), 1)}, {"a": {"z": "x" * 10**6}})
    assert len(found) == MOST_DIFFERENCES + 1
    assert all(len(each.new) <= VALUE_LENGTH + 1 for each in found)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "name", "type"]), inner, max_size=3)
    ),
    max_leaves=15,
)


@given(JSON, JSON)
def test_two_states_differ_exactly_if_a_difference_is_listed(old: Any, new: Any) -> None:
    assert bool(differences({"x": old}, {"x": old})) is False
    if differences({"x": old}, {"x": new}):
        assert old != new


def owner(manager: str, time: str, **fields: Any) -> FieldOwner:
    return FieldOwner(manager, time, "", msgspec.json.encode(fields["fields"]))


OWNERS = (
    owner("kubectl", "2026-01-01T00:00:00Z", fields={"f:spec": {"f:a": {}, "f:list": {}}}),
    owner(
        "operator",
        "2026-01-02T00:00:00Z",
        fields={
            "f:status": {
                "f:conditions": {'k:{"type":"Ready"}': {".": {}, "f:status": {}}},
            },
            "f:spec": {"f:a": {}},
        },
    ),
)


@pytest.mark.parametrize(
    ("path", "manager"),
    [
        (("spec", "a"), "operator"),
        (("spec", "list", 0), "kubectl"),
        (("status", "conditions", ("type", "Ready"), "status"), "operator"),
        (("status", "conditions", ("type", "Other"), "status"), ""),
        (("spec", "b"), ""),
    ],
)
def test_the_writer_is_who_owns_the_field_and_wrote_last(path: Any, manager: str) -> None:
    assert writer_of(path, OWNERS) == manager


def test_broken_managed_fields_name_nobody() -> None:
    assert writer_of(("spec",), [FieldOwner("a", "", "", b"{nonsense")]) == ""
