"""How templates differ: by path, in order, and never by value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.operators.infra.plan.diff import (
    SHOWN,
    differences,
    digest,
    irremovable,
    listed,
    machine_counts,
    wanted_machines,
)
from testbeds.infra import template

CASES: list[tuple[Any, Any, list[str]]] = [
    ({}, {}, []),
    ({"a": 1}, {"a": 1.0}, []),
    ({"a": 1}, {"a": True}, ["replace /a"]),
    ({"a": None}, {}, ["remove /a"]),
    ({}, {"a": None}, ["add /a"]),
    ({"a": [1, 2]}, {"a": [2, 1]}, ["replace /a/0", "replace /a/1"]),
    ({"a": [1]}, {"a": [1, 2, 3]}, ["add /a/1", "add /a/2"]),
    ({"a": [1, 2]}, {"a": [1]}, ["remove /a/1"]),
    ({"a": {"b": 1}}, {"a": [1]}, ["replace /a"]),
    ({"a/b": {"c~d": 1}}, {"a/b": {"c~d": 2}}, ["replace /a~1b/c~0d"]),
    ({"b": 1, "a": 1}, {"a": 2, "b": 2}, ["replace /a", "replace /b"]),
]


@pytest.mark.parametrize(("before", "after", "found"), CASES)
def test_difference_is_found(before: Any, after: Any, found: list[str]) -> None:
    assert [str(each) for each in differences(before, after)] == found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)


@given(JSON, JSON)
def test_digests_are_equal_exactly_if_there_is_no_difference(one: Any, other: Any) -> None:
    before, after = {"x": one}, {"x": other}
    assert (digest(before) == digest(after)) == (not differences(before, after))


@given(st.dictionaries(st.text(max_size=3), JSON))
def test_order_of_keys_is_no_difference(document: dict[str, Any]) -> None:
    turned = {key: document[key] for key in reversed(document)}
    assert digest(turned) == digest(document)


def test_values_are_never_shown() -> None:
    found = differences({"password": "old-secret"}, {"password": "new-secret"})
    assert "secret" not in listed(found)


def test_long_lists_are_counted() -> None:
    said = listed(f"/{number}" for number in range(SHOWN + 3))
    assert said.endswith("and 3 more")


def test_what_is_taken_out_of_a_template_stays_at_the_provider() -> None:
    before, after = template(), template()
    del after["topology_template"]["node_templates"]["wn"]
    after["description"] = "another"
    assert irremovable(differences(before, after)) == ("/topology_template/node_templates/wn",)


def test_machines_are_counted_by_type_count_and_input() -> None:
    assert machine_counts(template(3)) == {"front": 1, "wn": 3}
    assert wanted_machines(template(3)) == 4


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        ({"type": "tosca.nodes.Compute"}, 1),
        ({"type": "tosca.nodes.indigo.Compute"}, 1),
        ({"type": "tosca.nodes.SoftwareComponent"}, 0),
        ({"type": "somebody.elses.Type"}, None),
        ({"type": "tosca.nodes.Compute", "capabilities": {"scalable": {"properties": {"count": {
            "concat": ["1", "2"]}}}}}, None),
    ],
)  # fmt: skip
def test_machines_of_unknown_number_are_not_guessed(node: Any, wanted: int | None) -> None:
    assert wanted_machines({"topology_template": {"node_templates": {"a": node}}}) == wanted
