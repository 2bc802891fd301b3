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


@pytest.mark.parametrize(
    ("patch", "error"),
    [
        ({"$retainKeys": "a"}, BadPatchFormat),
        ({"$patch": "nonsense"}, PatchError),
        ({"containers": [{"image": "no name"}]}, PatchError),
    ],
)
def test_what_makes_no_sense_is_refused(patch: dict[str, Any], error: type[PatchError]) -> None:
    with pytest.raises(error):
        strategic_merge(pod(a="1"), patch, POD)
