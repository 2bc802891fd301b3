"""Selectors as queries write them, and what is said of those that make no sense."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.meta.selector_parser import parse_fields, parse_labels
from quintant.cluster.apiserver.meta.status import StatusError

LABELS = {"app": "web", "tier": "1", "empty": ""}
WORDS = st.sampled_from(["app", "tier", "x", "web", "1", "empty"])


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app = web", True),
        ("app=db", False),
        ("app!=db", True),
        ("absent!=db", True),
        ("app", True),
        ("absent", False),
        ("!absent", True),
        ("!app", False),
        ("app in (web,db)", True),
        ("app in ( web )", True),
        ("app notin (web)", False),
        ("absent notin (web)", True),
        ("empty=", True),
        ("empty in (,x)", True),
        ("app=web,tier>0", True),
        ("tier<1", False),
        ("app>0", False),
        ("example.com/app", False),
    ],
)
def test_label_selectors_match_as_their_grammar_says(text: str, matches: bool) -> None:
    assert parse_labels(text).matches(LABELS) is matches


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x in y", "unable to parse requirement: found 'y' expected: '('"),
        ("x in (y", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"),
        ("x=,", "found '', expected: identifier after ','"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ("x=y z", "found 'z', expected: ',' or 'end of string'"),
        ("!=x", "found '!=', expected: !, identifier, or 'end of string'"),
        ("!(", "unable to parse requirement: found '(', expected: identifier"),
        (
            "x>a",
            'unable to parse requirement: values[0]: Invalid value: "a": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ],
)
def test_a_wrong_label_selector_is_refused_in_a_real_servers_words(
    text: str, complaint: str
) -> None:
    with pytest.raises(StatusError) as refused:
        parse_labels(text)
    assert (refused.value.code, refused.value.message) == (400, complaint)


@pytest.mark.parametrize("text", ["_x=a", "x=-a", "a/b/c=d", "UPPER.com/x"])
def test_keys_and_values_must_be_well_formed(text: str) -> None:
    with pytest.raises(StatusError) as refused:
        parse_labels(text)
    assert refused.value.code == 400


@given(st.text(max_size=20))
def test_any_text_is_either_a_selector_or_a_bad_request(text: str) -> None:
    with suppress(StatusError):
        assert parse_labels(text).matches(LABELS) in (True, False)


@given(WORDS, st.sets(WORDS, min_size=1), st.dictionaries(WORDS, WORDS))
def test_in_and_notin_are_opposites(key: str, values: set[str], labels: dict[str, str]) -> None:
    listed = ",".join(sorted(values))
    inside = parse_labels(f"{key} in ({listed})").matches(labels)
    outside = parse_labels(f"{key} notin ({listed})").matches(labels)
    assert inside is not outside


def known(label: str) -> str:
    if label == "unknown":
        raise StatusError(400, "BadRequest", "no such field")
    return label


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("a=1", True),
        ("a==1", True),
        ("a!=1", False),
        ("a=1,b=2", True),
        ("a=1,b!=2", False),
        ("", True),
    ],
)
def test_field_selectors_compare_for_equality(text: str, matches: bool) -> None:
    assert parse_fields(text, known).matches({"a": "1", "b": "2"}) is matches


def test_field_selectors_unescape_values() -> None:
    assert parse_fields(r"a=x\,y", known).matches({"a": "x,y"})


@pytest.mark.parametrize("text", ["unknown=1", "noise"])
def test_a_field_selector_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(StatusError) as refused:
        parse_fields(text, known)
    assert refused.value.code == 400
