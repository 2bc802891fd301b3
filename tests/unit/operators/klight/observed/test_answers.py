"""What the answers to a join mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.operators.klight.observed.answers import Answer, JoinResult, join_result

CONNECT = "connect new peer request failed: rpc error: code = Unavailable desc = refused"
STREAM = "could not process block stream: "


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        (Answer("OK"), JoinResult.JOINED),
        (Answer("UNAVAILABLE", "anything"), JoinResult.JOINER_DOWN),
        (Answer("DEADLINE_EXCEEDED"), JoinResult.UNSETTLED),
        (Answer("CANCELLED"), JoinResult.UNSETTLED),
        (Answer("UNIMPLEMENTED"), JoinResult.NOT_A_PEER),
        (Answer("RESOURCE_EXHAUSTED", "message larger than max"), JoinResult.TOO_LARGE),
        (Answer("UNKNOWN", CONNECT), JoinResult.CONTACT_AWAY),
        (Answer("UNKNOWN", "failed to connect to grpc server"), JoinResult.CONTACT_BAD),
        (Answer("UNKNOWN", STREAM + "could not send new block notifications"), JoinResult.REFUSED),
        (Answer("UNKNOWN", STREAM + "block links to invalid parent"), JoinResult.REFUSED),
        (Answer("UNKNOWN", STREAM + "rpc error: code = Unavailable"), JoinResult.CONTACT_AWAY),
        (Answer("UNKNOWN", "no network update blocks found"), JoinResult.CONTACT_BAD),
        (Answer("UNKNOWN", "whatever", "contact-unreachable"), JoinResult.CONTACT_AWAY),
        (Answer("UNKNOWN", "whatever", "stream-broken"), JoinResult.CONTACT_AWAY),
        (Answer("UNKNOWN", "whatever", "parent-mismatch"), JoinResult.REFUSED),
        (Answer("UNKNOWN", "whatever"), JoinResult.REFUSED),
    ],
)
def test_answer_means(answer: Answer, meaning: JoinResult) -> None:
    assert join_result(answer) is meaning


@given(st.text(), st.text(), st.text())
def test_no_answer_is_beyond_judgement(code: str, text: str, reason: str) -> None:
    assert isinstance(join_result(Answer(code, text, reason)), JoinResult)
