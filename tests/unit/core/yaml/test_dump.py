from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from quintant.core.yaml import load_all
from quintant.core.yaml.dump import to_yaml


def test_keys_are_sorted_and_documents_separated() -> None:
    assert to_yaml([{"b": 1, "a": ["x", {"d": True, "c": None}]}, {"z": "last"}]) == (
        "a:\n- x\n- c: null\n  d: true\nb: 1\n---\nz: last\n"
    )


@pytest.mark.parametrize(
    "text",
    ["y", "N", "yes", "On", "off", "true", "null", "~", "1e3", "+1", ".5", "0x1f", "0o17", "012",
     "1_000", "12:30:45", "2026-01-01", ".inf", "", "=", "<<"],
)  # fmt: skip
def test_strings_that_a_reader_might_take_for_something_else_are_quoted(text: str) -> None:
    assert to_yaml([{"a": text}]) in (f'a: "{text}"\n', f"a: '{text}'\n")


@pytest.mark.parametrize("text", ["plain", ".spec.replicas", "a b", "/path", "v1alpha1", "x-y_z"])
def test_ordinary_strings_are_left_bare(text: str) -> None:
    assert to_yaml([{"a": text}]) == f"a: {text}\n"


def test_paragraphs_keep_their_lines() -> None:
    assert to_yaml([{"a": "one\n\ntwo"}]) == "a: |-\n  one\n\n  two\n"


def test_long_lines_are_not_folded() -> None:
    text = "word " * 50 + "end"
    assert to_yaml([{"a": text}]) == f"a: {text}\n"


def test_values_used_twice_are_written_twice() -> None:
    shared = {"x": [1]}
    assert "&" not in to_yaml([{"a": shared, "b": shared}])


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(), plain, min_size=1, max_size=4), min_size=1, max_size=3))
def test_what_is_written_reads_back_by_the_rules_of_kubectl_and_of_python(objects: Any) -> None:
    assert list(load_all(to_yaml(objects))) == objects
    assert list(yaml.safe_load_all(to_yaml(objects))) == objects
