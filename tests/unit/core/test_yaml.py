"""Promises of quintant.core.yaml; what is expected was printed by Go's sigs.k8s.io/yaml."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core import yaml
from quintant.core.errors import ConfigError


@pytest.fixture
def room() -> Iterator[None]:
    """A program that means to read deep documents allows for it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10 * yaml.DEEPEST)
    yield
    sys.setrecursionlimit(before)


SCALARS: list[tuple[str, Any]] = [
    ("yes", True), ("y", True), ("on", True), ("True", True), ("TRUE", True),
    ("n", False), ("NO", False), ("Off", False), ("false", False),
    ("'yes'", "yes"), ('"y"', "y"), ("yep", "yep"), ("tRUE", "tRUE"),
    ("", None), ("~", None), ("null", None), ("NULL", None), ("nUll", "nUll"),
    ("2020-01-01", "2020-01-01"), ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
    ("1:30", "1:30"), ("=", "="), ("1.2.3", "1.2.3"), ("nan", "nan"), ("_1", "_1"),
    ("012", 10), ("0777", 511), ("0o12", 10), ("0O7", 7), ("-0o7", -7), ("08", 8), ("+012", 10),
    ("0x1F", 31), ("0X1F", 31), ("-0x1F", -31), ("0x", "0x"), ("0xZZ", "0xZZ"), ("0x1p3", "0x1p3"),
    ("0b11", 3), ("-0b11", -3), ("0b2", "0b2"), ("0b", "0b"),
    ("1_000", 1000), ("1__0", 10), ("1_", 1), ("0_1", 1), ("+5", 5), ("-0", 0),
    ("1.0", 1), ("1.", 1), (".5", 0.5), ("+.5", 0.5), ("-.5", -0.5), (".", "."), ("0.1_", 0.1),
    ("1e3", 1000), ("12e03", 12000), ("1e", "1e"), ("1.5e-7", 1.5e-7), ("1e400", "1e400"),
    ("685_230.15", 685230.15), ("1e3_0", 1e30),
    ("123456789012345678", 123456789012345678),
    ("18446744073709551615", 18446744073709551615),
    ("18446744073709551616", 1.8446744073709552e19),
    ("1234567890123456789012", 1.2345678901234568e21),
    ("!!binary aGk=", "hi"), ("!foo bar", "bar"), ("!!str 1", "1"), ("!!int '3'", 3),
    ("!!float 1", 1), ("!!bool yes", True), ("!!null ''", None),
    ("!!timestamp 2020-01-01", "2020-01-01"), ("!!set {b, c}", {"b": None, "c": None}),
    ("!!omap [b: 1]", [{"b": 1}]), ("!foo {a: 1}", {"a": 1}), ("!foo [a]", ["a"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_value_is_read_as_kubectl_reads_it(text: str, value: Any) -> None:
    read = yaml.load(f"a: {text}\n")["a"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("y: 1", ["true"]),
        ("off: 1", ["false"]),
        ("1: 1", ["1"]),
        ("1.5: 1", ["1.5"]),
        ("1e3: 1", ["1000"]),
        ("0x10: 1", ["16"]),
        ("2020-01-01: 1", ["2020-01-01"]),
    ],
)
def test_every_key_is_a_string(text: str, keys: list[str]) -> None:
    assert list(yaml.load(text)) == keys


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: 1\na: 2", 'line 2, column 1: key "a" is given twice'),
        ("a: 1\n'a': 2", 'line 2, column 1: key "a" is given twice'),
        ("1: a\n'1': b", 'line 2, column 1: key "1" is given twice'),
        ("~: 1", "a key must not be null"),
        ("? [a]\n: b", "a key must be a plain value"),
        ("a: &x [*x]", "recursive"),
        ("a: .nan", "not a number that JSON can hold"),
        ("a: -.inf", "not a number that JSON can hold"),
        ("a: !!int sesame", "not a number"),
        ("a: !!bool sesame", "not a boolean"),
        ("a: !!binary '*'", "base64"),
        ("a: [1", "line 2"),
        ("\t", "cannot start any token"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot read file\.yaml") as caught:
        yaml.load(text, "file.yaml")
    assert complaint in caught.value.because


def test_complaint_does_not_repeat_the_text_which_may_be_secret() -> None:
    with pytest.raises(ConfigError) as caught:
        yaml.load("token: sesame\nother: [sesame")
    assert "sesame" not in str(caught.value)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        yaml.load(b"a: \xff\xfe\xfa")


def test_aliases_and_merge_keys_are_followed_and_own_keys_win() -> None:
    text = "base: &b {x: 1, y1: 2}\nitem:\n  <<: *b\n  x: 3\nsame: *b\n"
    assert yaml.load(text) == {
        "base": {"x": 1, "y1": 2},
        "item": {"x": 3, "y1": 2},
        "same": {"x": 1, "y1": 2},
    }


def test_documents_are_read_in_order_and_empty_ones_left_out() -> None:
    assert list(yaml.load_all("a: 1\n---\n---\n# nothing\n---\n- b\n")) == [{"a": 1}, ["b"]]


def test_first_document_is_loaded_and_nothing_is_none() -> None:
    assert yaml.load("a: 1\n---\nb: 2") == {"a": 1}
    assert yaml.load("# only a comment") is None


TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff"))
WHOLE = st.integers(-(2**63), 2**64 - 1)
Json = st.recursive(
    st.none() | st.booleans() | WHOLE | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abcxyz", min_size=1), inner),
)


@given(Json)
def test_json_is_read_as_json(value: Any) -> None:
    assert yaml.load(json.dumps({"a": value}, ensure_ascii=False)) == {"a": value}


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "[" * 100_000 + "]" * 100_000],
    ids=["lists", "maps", "items", "closed lists"],
)
def test_what_is_nested_without_end_is_refused_not_followed(text: str) -> None:
    with pytest.raises(yaml.YamlError, match=f"exceeded max depth of {yaml.DEEPEST}"):
        yaml.load(text)


def test_a_deep_document_is_read_where_there_is_room(room: None) -> None:
    levels = yaml.DEEPEST - 1
    value = yaml.load("[" * levels + "x" + "]" * levels)
    for _ in range(levels):
        (value,) = value
    assert value == "x"


def test_depth_is_counted_anew_beside_it() -> None:
    shallow = "[" * 9 + "]" * 9
    assert len(yaml.load(f"[{', '.join([shallow] * yaml.DEEPEST)}]")) == yaml.DEEPEST


@pytest.mark.parametrize("merged", ["", "<<: "])
def test_aliases_cannot_make_a_small_text_huge(merged: str) -> None:
    lines = ["a0: &a0 {k: v}"]
    for at in range(40):
        twice = f"{{<<: [*a{at}, *a{at}]}}" if merged else f"[*a{at}, *a{at}]"
        lines.append(f"a{at + 1}: &a{at + 1} {twice}")
    with pytest.raises(yaml.YamlError, match="document contains excessive aliasing"):
        yaml.load("\n".join(lines))


def test_many_aliases_of_something_small_are_fine() -> None:
    value = yaml.load("a: &a {k: v}\nb: [" + ", ".join(["*a"] * 500) + "]")
    assert value["b"] == [{"k": "v"}] * 500


@pytest.mark.parametrize(
    ("text", "line"), [("a: b: c", 0), ("a: 1\nb: 2: 3", 2), ("{", 1), ("a: [\n\n", 2)]
)
def test_lines_are_counted_as_go_counts_them(text: str, line: int) -> None:
    with pytest.raises(yaml.YamlError) as refused:
        yaml.load(text)
    assert refused.value.line == line
