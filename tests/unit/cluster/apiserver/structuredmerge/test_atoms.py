"""What fits where, and Go's words for what does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from quintant.cluster.apiserver.structuredmerge.atoms import Sort, unfit
from unit.cluster.jsons import JSON


@pytest.mark.parametrize(
    ("value", "sort", "complaint"),
    [
        (1, Sort.TEXT, "expected string, got &value.valueUnstructured{Value:1}"),
        (True, Sort.TEXT, "expected string, got &value.valueUnstructured{Value:true}"),
        (
            {"a": ["b"]},
            Sort.TEXT,
            "expected string, got &value.valueUnstructured{Value:"
            'map[string]interface {}{"a":[]interface {}{"b"}}}',
        ),
        ("text", Sort.NUMBER, "expected numeric (int or float), got string"),
        (True, Sort.NUMBER, "expected numeric (int or float), got bool"),
        ("yes", Sort.TRUTH, "expected boolean, got &{yes}"),
        ([1], Sort.SCALAR, "expected any scalar, got &{[1]}"),
        ([], Sort.MAP, "expected map, got &{[]}"),
        ({"a": 1}, Sort.LIST, "expected list, got &{map[a:1]}"),
    ],
)
def test_what_does_not_fit_is_told_in_gos_words(value: Any, sort: Sort, complaint: str) -> None:
    assert unfit(value, sort) == complaint


@pytest.mark.parametrize("sort", Sort)
def test_null_fits_everywhere(sort: Sort) -> None:
    assert unfit(None, sort) == ""


@given(JSON)
def test_everything_fits_somewhere_and_anywhere_that_is_open(value: Any) -> None:
    assert unfit(value, Sort.ANY) == ""
    assert [sort for sort in Sort if sort is not Sort.ANY and not unfit(value, sort)]
