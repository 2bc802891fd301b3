from __future__ import annotations

from copy import deepcopy
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.client.json_patch import Lossy, make_json_patch
from quintant.core.codec import from_plain
from quintant.core.object import Opaque, replace
from unit.runtime.webhook.kinds import Gate, GateSpec, Limits, Port, document


def change(before: dict[str, Any], **spec: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The patch for a change of the spec, and the document after it."""
    gate = from_plain(Gate, before)
    patch = make_json_patch(gate, replace(gate, spec=replace(gate.spec, **spec)), before)
    return patch, jsonpatch.apply_patch(before, patch)


def test_an_unchanged_object_needs_no_patch() -> None:
    before = document({"host": "", "tags": [], "selector": {}, "limits": None}, labels={})
    gate = from_plain(Gate, before)
    assert make_json_patch(gate, gate, before) == []


def test_a_changed_field_is_replaced_and_its_unknown_neighbours_stay() -> None:
    patch, after = change(document(), host="b.example.com")
    assert patch == [{"op": "replace", "path": "/spec/host", "value": "b.example.com"}]
    assert after["spec"]["colour"] == "red"


def test_a_new_field_is_added() -> None:
    patch, _ = change(document(), limits=Limits(rate=3))
    assert patch == [{"op": "add", "path": "/spec/limits", "value": {"rate": 3}}]


def test_a_field_set_to_its_default_is_removed() -> None:
    patch, after = change(document(), host="")
    assert patch == [{"op": "remove", "path": "/spec/host"}]
    assert after["spec"] == {"colour": "red"}


def test_a_default_that_was_never_there_is_not_removed() -> None:
    before = document({"limits": {"rate": 0, "burst": 2}})
    patch, after = change(before, limits=Limits())
    assert patch == [{"op": "remove", "path": "/spec/limits/burst"}]
    assert after["spec"] == {"limits": {"rate": 0}}


def test_removing_an_optional_part_removes_it_whole() -> None:
    patch, after = change(document({"limits": {"rate": 1, "unknown": 2}}), limits=None)
    assert patch == [{"op": "remove", "path": "/spec/limits"}]
    assert after["spec"] == {}


def test_a_part_that_is_all_default_keeps_what_the_type_does_not_know() -> None:
    before = document({"defaults": {"rate": 1, "unknown": 2}})
    patch, after = change(before, defaults=Limits())
    assert patch == [{"op": "remove", "path": "/spec/defaults/rate"}]
    assert after["spec"] == {"defaults": {"unknown": 2}}


def test_a_part_known_only_by_unknown_fields_is_written_into_not_over() -> None:
    patch, after = change(document({"defaults": {"unknown": 2}}), defaults=Limits(rate=1))
    assert patch == [{"op": "add", "path": "/spec/defaults/rate", "value": 1}]
    assert after["spec"] == {"defaults": {"unknown": 2, "rate": 1}}


def test_a_part_that_is_null_is_replaced_whole() -> None:
    patch, _ = change(document({"limits": None}), limits=Limits(rate=1))
    assert patch == [{"op": "replace", "path": "/spec/limits", "value": {"rate": 1}}]


def test_labels_are_added_without_touching_the_rest_of_the_metadata() -> None:
    before = document()
    gate = from_plain(Gate, before)
    after = replace(gate, metadata=replace(gate.metadata, labels={"a/b": "c"}))
    assert make_json_patch(gate, after, before) == [
        {"op": "add", "path": "/metadata/labels", "value": {"a/b": "c"}}
    ]


def test_names_in_a_path_are_escaped() -> None:
    before = document(annotations={"a/b~c": "1", "keep": "x", "drop/it": ""})
    gate = from_plain(Gate, before)
    annotations = {"a/b~c": "2", "keep": "x", "~1": "new"}
    patch = make_json_patch(
        gate, replace(gate, metadata=replace(gate.metadata, annotations=annotations)), before
    )
    assert patch == [
        {"op": "replace", "path": "/metadata/annotations/a~1b~0c", "value": "2"},
        {"op": "remove", "path": "/metadata/annotations/drop~1it"},
        {"op": "add", "path": "/metadata/annotations/~01", "value": "new"},
    ]
    assert jsonpatch.apply_patch(before, patch)["metadata"]["annotations"] == annotations


def test_values_of_a_map_are_compared_field_by_field() -> None:
    before = document({"limitsByUser": {"ann": {"rate": 1, "unknown": 2}}})
    patch, _ = change(before, limits_by_user={"ann": Limits(rate=5), "bob": Limits(rate=1)})
    assert patch == [
        {"op": "replace", "path": "/spec/limitsByUser/ann/rate", "value": 5},
        {"op": "add", "path": "/spec/limitsByUser/bob", "value": {"rate": 1}},
    ]


def test_a_list_of_values_is_replaced_whole() -> None:
    patch, _ = change(document({"tags": ["a", "b"]}), tags=("b", "c"))
    assert patch == [{"op": "replace", "path": "/spec/tags", "value": ["b", "c"]}]


def test_an_emptied_list_is_removed() -> None:
    patch, _ = change(document({"tags": ["a"]}), tags=())
    assert patch == [{"op": "remove", "path": "/spec/tags"}]


def test_elements_that_stay_in_a_list_keep_their_unknown_fields() -> None:
    before = document({"ports": [{"name": "a", "unknown": 1}, {"name": "b", "unknown": 2}]})
    _, after = change(before, ports=(Port(name="new", number=1), Port(name="b"), Port(name="a")))
    assert after["spec"]["ports"] == [
        {"name": "new", "number": 1},
        {"name": "b", "unknown": 2},
        {"name": "a", "unknown": 1},
    ]


def test_elements_may_leave_a_list() -> None:
    before = document({"ports": [{"name": "a", "unknown": 1}, {"name": "b", "unknown": 2}]})
    _, after = change(before, ports=(Port(name="b"),))
    assert after["spec"]["ports"] == [{"name": "b", "unknown": 2}]


def test_changing_an_element_with_unknown_fields_is_refused() -> None:
    before = document({"ports": [{"name": "a", "deep": [{"unknown": 1}]}]})
    with pytest.raises(Lossy, match="cannot change the elements of /spec/ports"):
        change(before, ports=(Port(name="a", number=1),))


def test_changing_an_element_that_is_wholly_known_is_fine() -> None:
    before = document({"ports": [{"name": "a", "number": 1, "nothing": [], "none": None}]})
    _, after = change(before, ports=(Port(name="a", number=2),))
    assert after["spec"]["ports"] == [{"name": "a", "number": 2}]


def test_opaque_elements_can_be_changed_without_loss() -> None:
    before = document({"containers": [{"image": "a", "anything": {"x": [1]}}, {"image": "b"}]})
    gate = from_plain(Gate, before)
    first = gate.spec.containers[0].value | {"image": "c"}
    _, after = change(before, containers=(Opaque.of(first), gate.spec.containers[1]))
    assert after["spec"]["containers"] == [
        {"image": "c", "anything": {"x": [1]}},
        {"image": "b"},
    ]


def test_an_opaque_list_is_replaced_by_what_it_became() -> None:
    patch, _ = change(document({"extra": [{"a": 1}]}), extra=Opaque.of([{"a": 1}, {"b": 2}]))
    assert patch == [{"op": "replace", "path": "/spec/extra", "value": [{"a": 1}, {"b": 2}]}]


names = st.sampled_from(["a", "b/c", "~", "d~1e", ""])
texts = st.text(max_size=3)
limits = st.builds(Limits, rate=st.integers(0, 2), burst=st.none() | st.integers(0, 2))
specs = st.builds(
    GateSpec,
    host=texts,
    limits=st.none() | limits,
    defaults=limits,
    ports=st.lists(st.builds(Port, name=names, number=st.integers(0, 2)), max_size=3).map(tuple),
    tags=st.lists(texts, max_size=3).map(tuple),
    selector=st.dictionaries(names, texts, max_size=3),
    limits_by_user=st.dictionaries(names, limits, max_size=3),
)


@given(before=specs, after=specs, explicit=st.booleans())
def test_the_patched_document_always_decodes_to_what_the_mutator_returned(
    before: GateSpec, after: GateSpec, explicit: bool
) -> None:
    unknown: dict[str, Any] = {"unknown": {"kept": [1]}}
    spec = {**unknown, **({"host": "", "tags": [], "limits": None} if explicit else {})}
    raw = document(spec | from_spec(before))
    raw["spec"].setdefault("defaults", {}).update(unknown)
    old = from_plain(Gate, raw)
    new = replace(old, spec=after)
    patched = jsonpatch.apply_patch(deepcopy(raw), make_json_patch(old, new, raw))
    assert from_plain(Gate, patched) == new
    assert patched["spec"]["unknown"] == patched["spec"]["defaults"]["unknown"] == {"kept": [1]}
    assert patched["metadata"] == raw["metadata"]


def from_spec(spec: GateSpec) -> dict[str, Any]:
    plain: dict[str, Any] = Opaque.of(spec).value
    return plain
