from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.response.printers.jsonpath import compile_path, find

OBJECT = {
    "metadata": {"annotations": {"example.com/zone": "north"}},
    "spec": {"items": [{"name": "a", "on": True}, {"name": "b", "size": 2}], "none": None},
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (".spec.items[0].name", ["a"]),
        ("{.spec.items[1].name}", ["b"]),
        ("$.spec.items[-1].name", ["b"]),
        (".spec.items[-1:].name", ["b"]),
        (".spec.items[0:1].name", ["a"]),
        (".spec.items[*].name", ["a", "b"]),
        (".spec.items.*.name", ["a", "b"]),
        ('.spec.items[?(@.name=="b")].size', [2]),
        (".spec.items[?(@.name!='b')].name", ["a"]),
        (".spec.items[?(@.size==2)].name", ["b"]),
        (".spec.items[?(@.on==true)].name", ["a"]),
        (r".metadata.annotations['example\.com/zone']", ["north"]),
        (r".metadata.annotations.example\.com/zone", ["north"]),
        (".spec.none", [None]),
        (".spec.items[7].name", []),
        (".spec.nothing.at.all", []),
        (".spec.items.name", []),
    ],
)
def test_a_path_leads_to_values(path: str, values: list[Any]) -> None:
    assert find(OBJECT, compile_path(path)) == values


@pytest.mark.parametrize("path", ["spec", ".spec[", ".spec..deep", ".spec[?(@.a>1)]"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="cannot read a path"):
        compile_path(path)
