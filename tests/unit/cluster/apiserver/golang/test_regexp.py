from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.golang.regexp import BadPattern, finder, matcher


def test_a_pattern_is_found_anywhere_unless_anchored() -> None:
    assert matcher("b+")("abbc")
    assert not matcher("^b")("abbc")
    assert matcher("^.$")("é")


def test_every_occurrence_is_found() -> None:
    assert finder("[a-z]+")("ab 1 cd") == ["ab", "cd"]


def test_a_hostile_pattern_takes_no_longer_than_others() -> None:
    assert not matcher("^(a+)+$")("a" * 5000 + "b")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "missing closing ): `(`"),
        ("[", "missing closing ]: `[`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("\\", "trailing backslash at end of expression: ``"),
        ("(?!a)", "invalid or unsupported Perl syntax: `(?!`"),
        ("(?<=a)b", "invalid named capture: `(?<=a)b`"),
        (")", "unexpected ): `)`"),
    ],
)
def test_a_bad_pattern_is_explained_in_gos_words(pattern: str, why: str) -> None:
    with pytest.raises(BadPattern) as told:
        matcher(pattern)
    assert str(told.value) == f"error parsing regexp: {why}"


@given(st.text(max_size=10), st.text(max_size=10))
def test_every_text_is_a_pattern_or_a_bad_one(pattern: str, text: str) -> None:
    with suppress(BadPattern):
        assert matcher(pattern)(text) in (True, False)
