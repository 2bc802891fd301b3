"""What is amiss in a text is found and named."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.codec.unknown_fields import duplicate_fields, text_warnings

TEXTS = st.text(max_size=8) | st.sampled_from(['":', '\\":"', '{"a":1}', "\\"])
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(TEXTS, children, max_size=3),
)


@given(DOCUMENTS, st.booleans())
def test_a_text_without_any_names_none(document: object, spaced: bool) -> None:
    text = json.dumps(document, indent=2 if spaced else None, ensure_ascii=spaced).encode()
    assert duplicate_fields(text, msgspec.json.decode(text)) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"a":1,"a":2}', ["a"]),
        ('{"a" : 1, "b": {"c":1,"c":1,"c":1}}', ["b.c"]),
        ('{"m":{"n":"x","n":"y"},"d":{"a":"1","a":"2"},"d":{}}', ["m.n", "d.a", "d"]),
        ('{"l":[{"a":1},{"a":1,"a":2}]}', ["l[1].a"]),
        ('{"a":"\\":","a":"\\":"}', ["a"]),
    ],
)
def test_each_is_named_once_by_its_path(text: str, named: list[str]) -> None:
    raw = text.encode()
    assert duplicate_fields(raw, msgspec.json.decode(raw)) == named


@pytest.mark.parametrize(
    ("media", "text", "told", "as_yaml"),
    [
        ("application/json", b'{"a":1,"a":2}', ['duplicate field "a"'], False),
        (
            "application/json-patch+json",
            b'[{"op":"test","op":"test","path":"","odd":1}]',
            [
                'json patch duplicate field "[0].op"',
                'json patch unknown field "[0].odd"',
            ],
            False,
        ),
        ("application/yaml", b'{"a":1}', [], True),
        (
            "application/yaml",
            b"a: 1\na: 2\n",
            ['line 2: key "a" already set in map'],
            True,
        ),
        ("application/vnd.kubernetes.protobuf", b"k8s", [], False),
    ],
)
def test_each_sort_of_text_is_complained_about_in_its_own_words(
    media: str, text: bytes, told: list[str], as_yaml: bool
) -> None:
    sent = msgspec.json.decode(text) if text[:1] in (b"{", b"[") else {}
    found = text_warnings({"content-type": media}, text, sent)
    assert found == (tuple(told), as_yaml)
