from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.patch.merge_patch import merge_patch


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ({"a": [1]}, {"a": [2]}, {"a": [2]}),
        ({"a": "x"}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ({"a": 1}, ["x"], ["x"]),
        ({}, {"a": {"b": None}}, {"a": {}}),
    ],
)
def test_maps_merge_and_null_deletes(target: Any, patch: Any, result: Any) -> None:
    assert merge_patch(target, patch) == result
