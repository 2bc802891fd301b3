"""The steps of one join, as promises about whom they drop and when they found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.operators.klight.plan import join
from quintant.operators.klight.plan.actions import Drop, End, Enrol, Postpone
from quintant.operators.klight.plan.join import Ask, Attempt
from quintant.operators.klight.plan.join_result import Answer, PeerHealth
from unit.operators.klight.plan.peers import peer

OK = Answer("OK")
AWAY = Answer("UNKNOWN", "whatever", "contact-unreachable")
ANSWERS = [
    OK, AWAY, Answer("UNKNOWN", "x", "invalid"), Answer("UNAVAILABLE"), Answer("UNKNOWN", "x"),
    Answer("DEADLINE_EXCEEDED"), Answer("UNIMPLEMENTED"), Answer("RESOURCE_EXHAUSTED"),
]  # fmt: skip


def attempt_of(contacts: int, *, precheck: bool = True) -> Attempt:
    """An attempt that has just begun, with so many contacts."""
    stack = tuple(peer(str(number)) for number in range(contacts))
    return join.begin(peer("me"), stack, precheck=precheck)


def walked(found: list[PeerHealth]) -> Attempt:
    """An attempt whose contacts all turned out as found, when the joiner could not join them."""
    attempt = attempt_of(len(found), precheck=False)
    for health in found:
        attempt = join.after(join.after(attempt, AWAY), health)
    return attempt


def test_nobody_is_sent_to_itself() -> None:
    me, other = peer("me"), peer("other")
    assert join.begin(me, (me, other)).contacts == (other,)


def test_empty_stack_is_founded() -> None:
    attempt = walked([])
    assert attempt.end is End.FOUND
    (action,) = join.conclude(attempt)
    assert isinstance(action, Enrol)
    assert (action.via, action.reason) == ("founder", "NetworkFormed")


def test_contact_is_checked_then_joined() -> None:
    attempt = attempt_of(1)
    assert attempt.ask is Ask.CHECK
    attempt = join.after(attempt, PeerHealth.SERVING)
    assert (attempt.ask, attempt.end) == (Ask.JOIN, None)
    attempt = join.after(attempt, OK)
    (action,) = join.conclude(attempt)
    assert isinstance(action, Enrol)
    assert (attempt.end, action.via, action.reason) == (End.JOINED, "0:9081", "Joined")


def test_without_a_precheck_the_joiner_is_called_at_once() -> None:
    assert attempt_of(1, precheck=False).ask is Ask.JOIN


def test_contact_that_is_not_who_it_was_is_passed_over_without_blame() -> None:
    attempt = join.after(attempt_of(2), None)
    assert [each.uid for each in attempt.contacts] == ["1"]
    assert attempt.ask is Ask.CHECK
    assert join.after(attempt, None).end is End.FOUND


def test_joiner_that_blames_its_contact_has_the_contact_looked_at() -> None:
    attempt = join.after(join.after(attempt_of(2), PeerHealth.SERVING), AWAY)
    assert (attempt.ask, attempt.end) == (Ask.INSPECT, None)
    attempt = join.after(attempt, PeerHealth.SERVING)
    assert [each.uid for each in attempt.unreachable] == ["0"]
    assert attempt.ask is Ask.CHECK


def test_stack_of_the_dead_is_dropped_and_founded_by_nobody_yet() -> None:
    attempt = walked([PeerHealth.REFUSED, PeerHealth.REFUSED])
    assert attempt.end is End.FOUND
    actions = join.conclude(attempt)
    assert [type(each) for each in actions] == [Drop, Drop]
    assert {each.reason for each in actions} == {"PeerDown"}


@pytest.mark.parametrize(
    ("answer", "end", "reason", "long", "trouble"),
    [
        (Answer("UNAVAILABLE"), End.RETRY, "JoinFailed", False, False),
        (Answer("DEADLINE_EXCEEDED"), End.UNSETTLED, "JoinFailed", False, False),
        (Answer("UNIMPLEMENTED"), End.NOT_A_PEER, "NotALightpeer", True, False),
        (Answer("RESOURCE_EXHAUSTED"), End.TOO_LARGE, "ChainBlockTooLarge", True, False),
        (Answer("UNKNOWN", "no"), End.REFUSED, "JoinFailed", False, True),
    ],
)
def test_failed_join_is_postponed(
    answer: Answer, end: End, reason: str, long: bool, trouble: bool
) -> None:
    attempt = join.after(attempt_of(1, precheck=False), answer)
    (action,) = join.conclude(attempt)
    assert isinstance(action, Postpone)
    assert (action.end, action.reason, action.long, action.trouble) == (end, reason, long, trouble)
    assert action.unsettled is (end is End.UNSETTLED)


@pytest.mark.parametrize(
    ("health", "end", "reason"),
    [
        (PeerHealth.SERVING, End.UNREACHABLE, "Unreachable"),
        (PeerHealth.SILENT, End.SILENT, "Waiting"),
    ],
)
def test_joiner_that_gets_nowhere_waits_and_its_owner_is_told_whom_it_tried(
    health: PeerHealth, end: End, reason: str
) -> None:
    (action,) = join.conclude(walked([health]))
    assert isinstance(action, Postpone)
    assert (action.end, action.reason) == (end, reason)
    assert "0:9081" in action.waiting


@given(st.lists(st.sampled_from(PeerHealth)))
def test_nobody_founds_beside_one_that_may_live(found: list[PeerHealth]) -> None:
    alive = {PeerHealth.SERVING, PeerHealth.FAILING, PeerHealth.SILENT, PeerHealth.NOT_SERVING}
    assert (walked(found).end is End.FOUND) is not bool(alive & set(found))


@given(st.lists(st.sampled_from(PeerHealth)))
def test_only_the_proven_dead_and_impostors_are_dropped(found: list[PeerHealth]) -> None:
    dropped = {each.peer.uid for each in join.conclude(walked(found)) if isinstance(each, Drop)}
    proven = (PeerHealth.REFUSED, PeerHealth.FOREIGN)
    assert dropped == {str(at) for at, health in enumerate(found) if health in proven}


@given(st.integers(0, 5), st.booleans(), st.data())
def test_whatever_is_answered_an_attempt_ends_with_one_word_about_the_joiner(
    contacts: int, precheck: bool, data: st.DataObject
) -> None:
    attempt, steps = attempt_of(contacts, precheck=precheck), 0
    while attempt.end is None:
        asked = attempt.ask
        looks = st.sampled_from(PeerHealth) if asked is not Ask.JOIN else st.sampled_from(ANSWERS)
        gone = st.just(None) if asked is not Ask.INSPECT else st.nothing()
        attempt = join.after(attempt, data.draw(looks | gone))
        steps += 1
    assert steps <= 3 * contacts
    about = [each for each in join.conclude(attempt) if each.peer.uid == "me"]
    assert len(about) == (0 if attempt.end is End.FOUND and attempt.dead else 1)
    assert (attempt.end is End.JOINED) == (join_ok(attempt))


def join_ok(attempt: Attempt) -> bool:
    """Whether the joiner said at last that it joined."""
    return attempt.answer == OK
