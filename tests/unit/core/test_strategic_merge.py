"""Strategic merge patches by merge keys, without any kind of Kubernetes."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.core.strategic_merge import MergeKeys, strategic_merge
from quintant.core.strategic_order import BadPatchFormat, PatchError

POD = MergeKeys({"containers": "name", "containers.env": "name", "finalizers": ""})


def pod(**images: str) -> dict[str, Any]:
    return {"containers": [{"name": name, "image": image} for name, image in images.items()]}


def test_items_of_a_list_with_a_merge_key_are_merged_one_by_one() -> None:
    assert strategic_merge(pod(a="1", b="2"), pod(b="3", c="4"), POD) == pod(a="1", b="3", c="4")


def test_what_is_below_an_item_is_merged_by_its_own_key() -> None:
    live = {"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}]}]}
    patch = {"containers": [{"name": "a", "env": [{"name": "Y", "value": "2"}]}]}
    merged = strategic_merge(live, patch, POD)
    assert {each["name"] for each in merged["containers"][0]["env"]} == {"X", "Y"}


def test_a_list_without_a_merge_key_is_replaced() -> None:
    assert strategic_merge({"args": ["a", "b"]}, {"args": ["c"]}, POD) == {"args": ["c"]}


def test_a_list_of_values_is_a_set() -> None:
    live, patch = {"finalizers": ["a", "b"]}, {"finalizers": ["b", "c"]}
    assert strategic_merge(live, patch, POD) == {"finalizers": ["a", "b", "c"]}


def test_a_directive_deletes_an_item() -> None:
    patch = {"containers": [{"name": "a", "$patch": "delete"}]}
    assert strategic_merge(pod(a="1", b="2"), patch, POD) == pod(b="2")


def test_a_directive_replaces_a_list_as_a_whole() -> None:
    patch = {"containers": [{"$patch": "replace"}, {"name": "c", "image": "3"}]}
    assert strategic_merge(pod(a="1", b="2"), patch, POD) == pod(c="3")


def test_a_directive_replaces_or_empties_a_map() -> None:
    live = {"strategy": {"type": "Recreate"}, "limits": {"cpu": "1"}}
    patch = {"strategy": {"$patch": "replace", "kind": "x"}, "limits": {"$patch": "delete"}}
    assert strategic_merge(live, patch, POD) == {"strategy": {"kind": "x"}, "limits": {}}


def test_keys_that_are_not_retained_go() -> None:
    patch = {"$retainKeys": ["a", "c"], "c": 3}
    assert strategic_merge({"a": 1, "b": 2}, patch, POD) == {"a": 1, "c": 3}


def test_null_takes_a_field_away_and_is_never_stored() -> None:
    patch = {"a": None, "b": {"c": None, "d": [1, {"e": None}]}}
    assert strategic_merge({"a": 1}, patch, POD) == {"b": {"d": [1, {}]}}


def test_a_directive_for_what_is_not_there_is_not_stored() -> None:
    patch = {"containers": [{"name": "a", "$patch": "delete"}], "x": {"$patch": "delete"}}
    assert strategic_merge({}, patch, POD) == {"containers": []}


def test_items_leave_a_list_of_values_by_directive() -> None:
    patch = {"$deleteFromPrimitiveList/finalizers": ["a", "never there"]}
    assert strategic_merge({"finalizers": ["a", "b"]}, patch, POD) == {"finalizers": ["b"]}
    assert strategic_merge({"finalizers": []}, {**patch}, POD) == {"finalizers": []}
    gone = {"$deleteFromPrimitiveList/finalizers": None}
    assert strategic_merge({"finalizers": ["a"]}, gone, POD) == {}


def test_items_get_the_order_that_a_directive_names() -> None:
    patch = {
        "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
        "containers": [{"name": "c", "image": "3"}],
    }
    merged = strategic_merge(pod(a="1", b="2"), patch, POD)
    assert [each["name"] for each in merged["containers"]] == ["c", "a", "b"]


def test_values_get_the_order_that_a_directive_names() -> None:
    order = {"$setElementOrder/finalizers": ["c", "a"]}
    assert strategic_merge({}, {**order, "finalizers": ["c", "a"]}, POD) == {
        "finalizers": ["c", "a"]
    }
    assert strategic_merge({"finalizers": ["a", "c"]}, order, POD) == {"finalizers": ["c", "a"]}
    assert strategic_merge({}, order, POD) == {}


@pytest.mark.parametrize(
    ("patch", "error"),
    [
        ({"$retainKeys": "a"}, BadPatchFormat),
        ({"$patch": "nonsense"}, PatchError),
        ({"containers": [{"image": "no name"}]}, PatchError),
        ({"containers": [{"name": "a", "$patch": "merge"}]}, PatchError),
        ({"containers": [{"name": "a", "$patch": "nonsense"}]}, PatchError),
        ({"$retainKeys": ["a"], "b": 1}, BadPatchFormat),
        ({"$setElementOrder": []}, BadPatchFormat),
        ({"$setElementOrder/containers": {}}, PatchError),
        (
            {"$setElementOrder/containers": [{"name": "b"}], "containers": [{"name": "c"}]},
            PatchError,
        ),
    ],
)
def test_what_makes_no_sense_is_refused(patch: dict[str, Any], error: type[PatchError]) -> None:
    with pytest.raises(error):
        strategic_merge(pod(a="1"), patch, POD)
