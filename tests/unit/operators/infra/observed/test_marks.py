"""Marks: an infrastructure is recognised exactly, and never by nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.operators.infra.builders import CLUSTER_UID, CREATE_TOKEN, INFRA_NAME, OWNER
from quintant.operators.infra.observed.marks import InfrastructureMarks, marks_in_name, marks_of

TEXTS = st.sampled_from(["", "a", "ab", "b", "quintant"])
MARKS = st.builds(InfrastructureMarks, TEXTS, TEXTS, TEXTS, TEXTS)


@given(MARKS, MARKS)
def test_match_is_exact_and_never_by_what_is_empty(carried: Any, wanted: Any) -> None:
    token = carried.token != "" and carried.token in (wanted.token, wanted.uid)
    both = "" not in (carried.uid, carried.owner)
    cluster = both and (carried.uid, carried.owner) == (wanted.uid, wanted.owner)
    assert carried.match(wanted) is (token or cluster)
    assert not carried.match(InfrastructureMarks())


def test_marks_are_read_from_a_template() -> None:
    metadata = {CREATE_TOKEN: "t", CLUSTER_UID: "u", OWNER: "o", INFRA_NAME: "n--t"}
    assert marks_of({"metadata": metadata}) == InfrastructureMarks("t", "u", "o", "n--t")


@pytest.mark.parametrize("document", [{}, {"metadata": None}, {"metadata": {CREATE_TOKEN: ["t"]}}])
def test_marks_that_are_no_text_are_none(document: Any) -> None:
    assert marks_of(document) == InfrastructureMarks()


def test_token_is_left_in_a_name() -> None:
    assert marks_in_name("a--b--t").token == "t"
    assert marks_in_name("a").token == ""
