"""The steps of one join, as promises about whom they drop and when they found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.operators.klight.observed.answers import Answer, PeerHealth
from quintant.operators.klight.observed.questions import Join, guarded_check, inspect
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan import attempt as join
from quintant.operators.klight.plan.actions import Action, Drop, End, Enrol, Postpone
from quintant.operators.klight.plan.attempt import Ask, Attempt
from quintant.operators.klight.plan.joiner import LONG_SECONDS
from unit.operators.klight.plan.peers import NOW, member, peer

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


def concluded(attempt: Attempt) -> tuple[Action, ...]:
    """What follows from an attempt that ended."""
    return join.conclude(attempt, Options(), NOW)


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
    assert attempt.end is End.FOUNDED
    (action,) = concluded(attempt)
    assert isinstance(action, Enrol)
    assert (action.record.joined_via, action.reason) == ("founder", "NetworkFormed")


def test_contact_is_checked_then_joined() -> None:
    attempt = attempt_of(1)
    assert attempt.ask is Ask.CHECK
    attempt = join.after(attempt, PeerHealth.SERVING)
    assert (attempt.ask, attempt.end) == (Ask.JOIN, None)
    attempt = join.after(attempt, OK)
    (action,) = concluded(attempt)
    assert isinstance(action, Enrol)
    assert (attempt.end, action.reason) == (End.JOINED, "Joined")
    assert action.record.joined_via == "0:9081"


def test_without_a_precheck_the_joiner_is_called_at_once() -> None:
    assert attempt_of(1, precheck=False).ask is Ask.JOIN


def test_contact_that_is_not_who_it_was_is_passed_over_without_blame() -> None:
    attempt = join.after(attempt_of(2), None)
    assert [each.uid for each in attempt.contacts] == ["1"]
    assert attempt.ask is Ask.CHECK
    assert join.after(attempt, None).end is End.FOUNDED


def test_joiner_that_blames_its_contact_has_the_contact_looked_at() -> None:
    attempt = join.after(join.after(attempt_of(2), PeerHealth.SERVING), AWAY)
    assert (attempt.ask, attempt.end) == (Ask.INSPECT, None)
    attempt = join.after(attempt, PeerHealth.SERVING)
    assert [each.uid for each in attempt.unreachable] == ["0"]
    assert attempt.ask is Ask.CHECK


def test_stack_of_the_dead_is_dropped_and_founded_by_nobody_yet() -> None:
    attempt = walked([PeerHealth.REFUSED, PeerHealth.REFUSED])
    assert attempt.end is End.FOUNDED
    actions = concluded(attempt)
    assert [type(each) for each in actions] == [Drop, Drop]
    assert {each.reason for each in actions if isinstance(each, Drop)} == {"PeerDown"}


@pytest.mark.parametrize(
    ("answer", "end", "reason", "backoff", "trouble"),
    [
        (Answer("UNAVAILABLE"), End.RETRY, "JoinFailed", None, False),
        (Answer("DEADLINE_EXCEEDED"), End.UNSETTLED, "JoinFailed", Options().settle, False),
        (Answer("UNIMPLEMENTED"), End.NOT_A_PEER, "NotALightpeer", LONG_SECONDS, False),
        (Answer("RESOURCE_EXHAUSTED"), End.TOO_LARGE, "ChainBlockTooLarge", LONG_SECONDS, False),
        (Answer("UNKNOWN", "no"), End.REFUSED, "JoinFailed", None, True),
    ],
)
def test_failed_join_is_postponed(
    answer: Answer, end: End, reason: str, backoff: float | None, trouble: bool
) -> None:
    attempt = join.after(attempt_of(1, precheck=False), answer)
    (action,) = concluded(attempt)
    assert isinstance(action, Postpone)
    assert (action.end, action.reason, action.backoff) == (end, reason, backoff)
    assert action.trouble is trouble
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
    (action,) = concluded(walked([health]))
    assert isinstance(action, Postpone)
    assert (action.end, action.reason) == (end, reason)
    assert "0:9081" in action.waiting


@given(st.lists(st.sampled_from(PeerHealth)))
def test_nobody_founds_beside_one_that_may_live(found: list[PeerHealth]) -> None:
    alive = {PeerHealth.SERVING, PeerHealth.FAILING, PeerHealth.SILENT, PeerHealth.NOT_SERVING}
    assert (walked(found).end is End.FOUNDED) is not bool(alive & set(found))


@given(st.lists(st.sampled_from(PeerHealth)))
def test_only_the_proven_dead_and_impostors_are_dropped(found: list[PeerHealth]) -> None:
    dropped = {each.peer.uid for each in concluded(walked(found)) if isinstance(each, Drop)}
    proven = (PeerHealth.REFUSED, PeerHealth.FOREIGN)
    assert dropped == {str(at) for at, health in enumerate(found) if health in proven}


@given(st.integers(0, 5), st.booleans(), st.data())
def test_whatever_is_answered_an_attempt_ends_with_one_word_about_the_joiner(
    contacts: int, precheck: bool, data: st.DataObject
) -> None:
    attempt, steps = attempt_of(contacts, precheck=precheck), 0
    while attempt.end is None:
        ask = attempt.ask
        looks = st.sampled_from(PeerHealth) if ask is not Ask.JOIN else st.sampled_from(ANSWERS)
        gone = st.just(None) if ask is not Ask.INSPECT else st.nothing()
        attempt = join.after(attempt, data.draw(looks | gone))
        steps += 1
    assert steps <= 3 * contacts
    about = [each for each in concluded(attempt) if not isinstance(each, Drop)]
    assert len(about) == (0 if attempt.end is End.FOUNDED and attempt.dead else 1)
    assert (attempt.end is End.JOINED) == (join_ok(attempt))


def join_ok(attempt: Attempt) -> bool:
    """Whether the joiner answered at last that it joined."""
    return attempt.answer == OK


def test_attempt_asks_its_contact_then_the_joiner_then_the_contact_again() -> None:
    attempt, within = attempt_of(1), 3.0
    first = join.next_question(attempt, within, intent=True)
    assert first == guarded_check(attempt.contacts[0], join.CONTACT_SECONDS)
    attempt = join.after(attempt, PeerHealth.SERVING)
    second = join.next_question(attempt, within, intent=True)
    assert isinstance(second, Join)
    assert (second.address, second.contact, second.within) == ("me:9081", "0:9081", within)
    assert second.intent
    third = join.next_question(join.after(attempt, AWAY), within, intent=True)
    assert third == inspect(attempt.contacts[0], join.CONTACT_SECONDS)


def test_member_is_recorded_later_than_the_newest_whatever_the_clock_says() -> None:
    newest = member("0", joined="2026-01-01T00:00:05.000000Z")
    attempt = join.after(join.begin(peer("me"), (newest,), precheck=False), OK)
    (action,) = concluded(attempt)
    assert isinstance(action, Enrol)
    assert action.record.joined_at == "2026-01-01T00:00:05.000001Z"
