"""Questions are equal if what is asked is equal; answers are found by them."""

from __future__ import annotations

from quintant.operators.klight.observed.answers import Answer, PeerHealth
from quintant.operators.klight.observed.questions import (
    Answers,
    Join,
    check,
    contents,
    guarded_check,
    status,
)
from unit.operators.klight.plan.peers import member, peer


def test_answer_is_found_by_an_equal_question() -> None:
    answers = Answers().extended([(check(peer("p"), 1.0), PeerHealth.SERVING)])
    assert answers[check(peer("p"), 1.0)] is PeerHealth.SERVING
    assert answers.get(check(peer("p"), 2.0)) is None
    assert check(peer("p"), 1.0) in answers
    assert status(peer("p"), 1.0) not in answers


def test_look_tells_questions_apart_and_a_guard_does_not() -> None:
    first, second = contents(peer("p"), 1.0, 0), contents(peer("p"), 1.0, 1)
    assert first != second
    assert guarded_check(peer("p"), 1.0) == check(peer("p"), 1.0)


def test_join_is_the_same_with_an_intent_and_without() -> None:
    joiner, contact = peer("p"), member("c")
    calls = [Join("p:9081", "c:9081", 1.0, joiner, contact, intent) for intent in (True, False)]
    answers = Answers().extended([(calls[0], Answer("OK"))])
    assert answers[calls[1]] == Answer("OK")


def test_only_what_was_not_asked_is_unanswered() -> None:
    calls = [check(peer(name), 1.0) for name in "abc"]
    answers = Answers().extended([(calls[1], PeerHealth.SILENT)])
    assert answers.unanswered(calls) == (calls[0], calls[2])


def test_answers_are_extended_and_never_changed() -> None:
    before, call = Answers(), check(peer("p"), 1.0)
    before.extended([(call, PeerHealth.SERVING)])
    assert call not in before
