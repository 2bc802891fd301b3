"""What fits where, and Go's words for what does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from quintant.cluster.apiserver.structuredmerge.atoms import AtomKind, atom_error
from unit.cluster.json_strategies import JSON


@pytest.mark.parametrize(
    ("value", "sort", "complaint"),
    [
        (1, AtomKind.TEXT, "expected string, got &value.valueUnstructured{Value:1}"),
        (True, AtomKind.TEXT, "expected string, got &value.valueUnstructured{Value:true}"),
        (
            {"a": ["b"]},
            AtomKind.TEXT,
            "expected string, got &value.valueUnstructured{Value:"
            'map[string]interface {}{"a":[]interface {}{"b"}}}',
        ),
        ("text", AtomKind.NUMBER, "expected numeric (int or float), got string"),
        (True, AtomKind.NUMBER, "expected numeric (int or float), got bool"),
        ("yes", AtomKind.TRUTH, "expected boolean, got &{yes}"),
        ([1], AtomKind.SCALAR, "expected any scalar, got &{[1]}"),
        ([], AtomKind.MAP, "expected map, got &{[]}"),
        ({"a": 1}, AtomKind.LIST, "expected list, got &{map[a:1]}"),
    ],
)
def test_what_does_not_fit_is_told_in_gos_words(value: Any, sort: AtomKind, complaint: str) -> None:
    assert atom_error(value, sort) == complaint


@pytest.mark.parametrize("sort", AtomKind)
def test_null_fits_everywhere(sort: AtomKind) -> None:
    assert atom_error(None, sort) == ""


@given(JSON)
def test_everything_fits_somewhere_and_anywhere_that_is_open(value: Any) -> None:
    assert atom_error(value, AtomKind.ANY) == ""
    assert [sort for sort in AtomKind if sort is not AtomKind.ANY and not atom_error(value, sort)]
