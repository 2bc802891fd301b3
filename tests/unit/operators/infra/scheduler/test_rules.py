"""The grammar of label constraints, whole."""

from __future__ import annotations

import pytest

from quintant.operators.infra.scheduler.rules import InvalidConstraint, parse

DE, US, NONE = {"location": "DE"}, {"location": "US"}, {"other": "DE"}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("location is DE", (True, False)),
        ("location = DE", (True, False)),
        ("location == DE", (True, False)),
        ("location=DE", (True, False)),
        ("\t location  is\tDE ", (True, False)),
        ("location is not DE", (False, True)),
        ("location != DE", (False, True)),
        ("location!=DE", (False, True)),
        ("location in (DE, FR)", (True, False)),
        ("location in (DE,)", (True, False)),
        ("location in(US,DE)", (True, True)),
        ("location not in (DE, FR)", (False, True)),
        ("location  not   in ( DE )", (False, True)),
        ("location is not", (False, False)),
    ],
)
def test_constraint_holds(text: str, holds: tuple[bool, bool]) -> None:
    found = parse(text)
    assert (found.holds(DE), found.holds(US)) == holds
    assert not found.holds(NONE), "a missing label fulfils nothing"


def test_value_may_be_called_not() -> None:
    assert parse("mood is not").holds({"mood": "not"})


def test_key_may_have_a_prefix() -> None:
    assert parse("example.com/zone in (a)").holds({"example.com/zone": "a"})


@pytest.mark.parametrize(
    "text",
    ["", "location", "location is", "is DE", "location in ()", "location in DE",
     "location in (a b)",
     "location isnt DE", "location < 5", "location is DE FR", "location in (a,,b)", "=DE"],
)  # fmt: skip
def test_what_is_no_constraint_is_refused_with_the_grammar(text: str) -> None:
    with pytest.raises(InvalidConstraint) as refused:
        parse(text)
    assert repr(text) in str(refused.value)
    assert "key not in (a, b)" in str(refused.value)
