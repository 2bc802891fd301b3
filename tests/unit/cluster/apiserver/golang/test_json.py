from __future__ import annotations

import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.golang.depth import DEEPEST, make_room
from quintant.cluster.apiserver.golang.json import NotJson, decode

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([0.5, 1e30]) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_a_text_is_read_as_it_was_written(value: object) -> None:
    assert decode(json.dumps(value).encode()) == value


@given(VALUES, st.data())
def test_a_damaged_text_is_read_or_refused_with_its_place(
    value: object, data: st.DataObject
) -> None:
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    extra = data.draw(st.sampled_from(["", "x", ",", "}", "]", '"', "{", "-", "\\", "\n"]))
    damaged = text[:at] + extra + text[at + 1 :]
    try:
        expected = json.loads(damaged)
    except ValueError:
        with pytest.raises(NotJson, match=r"invalid character '.+' |unexpected end of JSON input"):
            decode(damaged.encode())
    else:
        assert decode(damaged.encode()) == _mended(expected)


def _mended(value: object) -> object:
    """Halves of surrogate pairs are no text: Go puts a mark in their place."""
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, dict):
        return {_mended(key): _mended(child) for key, child in value.items()}
    return [_mended(child) for child in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (b"", "unexpected end of JSON input"),
        (b'{"a":[1,{"b":tru}]}', "invalid character '}' in literal true (expecting 'e')"),
        (b'{"a":1', "unexpected end of JSON input"),
        (b'"\\u12', "unexpected end of JSON input"),
        (b"{1:2}", "invalid character '1' looking for beginning of object key string"),
        (b"1e", "unexpected end of JSON input"),
        (b'"\\', "unexpected end of JSON input"),
    ],
)
def test_the_first_wrong_character_is_named_as_go_does(raw: bytes, complaint: str) -> None:
    with pytest.raises(NotJson) as refused:
        decode(raw)
    assert str(refused.value) == complaint


@pytest.mark.parametrize("text", [b"\xff", b"\\ud800", b"\\udc00", b"\\ud8ff"])
def test_what_is_no_character_is_mended(text: bytes) -> None:
    assert decode(b'{"a": "' + text + b'"}') == {"a": "\ufffd"}


def test_a_number_that_no_float_can_hold_is_refused() -> None:
    with pytest.raises(NotJson, match="out of range"):
        decode(b"1e999")


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
def test_the_deepest_document_is_read_and_none_deeper(begin: str, end: str) -> None:
    make_room()
    deepest = (begin * DEEPEST + "1" + end * DEEPEST).encode()
    assert msgspec.json.encode(decode(deepest)) == deepest
    with pytest.raises(NotJson, match="exceeded max depth"):
        decode((begin * (DEEPEST + 1) + "1" + end * (DEEPEST + 1)).encode())


def test_brackets_that_are_text_are_not_counted() -> None:
    assert decode(b'"' + b"[" * 3 * DEEPEST + b'"') == "[" * 3 * DEEPEST


def test_a_wide_document_is_not_deep() -> None:
    assert len(decode(b"[" + b"[]," * 3 * DEEPEST + b"[]]")) == 3 * DEEPEST + 1
