"""Fields that come twice are found and named."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.duplicates import duplicate_fields

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
