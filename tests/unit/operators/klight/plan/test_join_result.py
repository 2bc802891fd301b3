"""What the answers to a join mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.operators.klight.plan.join_result import Answer, Verdict, verdict

CONNECT = "connect new peer request failed: rpc error: code = Unavailable desc = refused"
STREAM = "could not process block stream: "


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        (Answer("OK"), Verdict.JOINED),
        (Answer("UNAVAILABLE", "anything"), Verdict.JOINER_DOWN),
        (Answer("DEADLINE_EXCEEDED"), Verdict.UNSETTLED),
        (Answer("CANCELLED"), Verdict.UNSETTLED),
        (Answer("UNIMPLEMENTED"), Verdict.NOT_A_PEER),
        (Answer("RESOURCE_EXHAUSTED", "message larger than max"), Verdict.TOO_LARGE),
        (Answer("UNKNOWN", CONNECT), Verdict.CONTACT_AWAY),
        (Answer("UNKNOWN", "failed to connect to grpc server"), Verdict.CONTACT_BAD),
        (Answer("UNKNOWN", STREAM + "could not send new block notifications"), Verdict.REFUSED),
        (Answer("UNKNOWN", STREAM + "block links to invalid parent"), Verdict.REFUSED),
        (Answer("UNKNOWN", STREAM + "rpc error: code = Unavailable"), Verdict.CONTACT_AWAY),
        (Answer("UNKNOWN", "no network update blocks found"), Verdict.CONTACT_BAD),
        (Answer("UNKNOWN", "whatever", "contact-unreachable"), Verdict.CONTACT_AWAY),
        (Answer("UNKNOWN", "whatever", "stream-broken"), Verdict.CONTACT_AWAY),
        (Answer("UNKNOWN", "whatever", "parent-mismatch"), Verdict.REFUSED),
        (Answer("UNKNOWN", "whatever"), Verdict.REFUSED),
    ],
)
def test_answer_means(answer: Answer, meaning: Verdict) -> None:
    assert verdict(answer) is meaning


@given(st.text(), st.text(), st.text())
def test_no_answer_is_beyond_judgement(code: str, text: str, reason: str) -> None:
    assert isinstance(verdict(Answer(code, text, reason)), Verdict)
