"""How one pod becomes a member: the steps of the reconciler, as a pure state machine.

    1    the stack is empty          -> found the network
    2    else                        -> try the head
    2.1  the head took it            -> joined
    2.2  the head is proven dead     -> drop it, and begin again at 1

What is proven is the point: a live contact is never dropped, and no peer founds a second network
beside a live one. A contact that the joiner cannot reach, though we can, is passed over and kept.

`next_question` says which peer to ask what, `after` takes the answer in, and `conclude` says what
follows from how the attempt ended.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto

from quintant.core.text import one_line
from quintant.operators.klight.observed.answers import (
    NO_ANSWER,
    Answer,
    JoinResult,
    PeerHealth,
    join_result,
)
from quintant.operators.klight.observed.network import PeerView
from quintant.operators.klight.observed.questions import (
    Join,
    NetworkQuestion,
    guarded_check,
    inspect,
)
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Action, Drop, End, Enrol, Postpone
from quintant.operators.klight.plan.joiner import LONG_SECONDS, foreign, found_network, record_of

CONTACT_SECONDS = 1.0
"""How long a contact may take to answer: another one will do."""


class Ask(Enum):
    """What is asked next."""

    CHECK = auto()
    """Of the contact, whether it serves, before a joiner is sent to it."""
    JOIN = auto()
    """Of the joiner, to join the contact's network."""
    INSPECT = auto()
    """Of the contact, whether it lives, after the joiner could not join it."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """How far the attempt to join one pod is."""

    joiner: PeerView
    stack: tuple[PeerView, ...]
    """The members when it began."""
    contacts: tuple[PeerView, ...]
    """Those still to be tried, newest first."""
    precheck: bool = True
    """Whether contacts are checked before the joiner is sent to them."""
    ask: Ask = Ask.CHECK
    """What comes next, if there is a contact."""
    end: End | None = None
    answer: Answer = NO_ANSWER
    """What the joiner answered last."""
    dead: tuple[PeerView, ...] = ()
    """Proven dead on the way: to be dropped from the stack."""
    bad: tuple[PeerView, ...] = ()
    """Alive, and no lightpeers: to be dropped from the stack, too."""
    silent: tuple[PeerView, ...] = ()
    """Slow or dead, which is not known: passed over, and dropped only by the checks of members."""
    unreachable: tuple[PeerView, ...] = ()
    """Alive, but not for the joiner."""


def begin(joiner: PeerView, stack: tuple[PeerView, ...], *, precheck: bool = True) -> Attempt:
    """An attempt with all members but the joiner itself as contacts."""
    contacts = tuple(peer for peer in stack if peer.uid != joiner.uid)
    return _at_next(Attempt(joiner, stack, (), precheck), contacts)


def after(attempt: Attempt, outcome: PeerHealth | Answer | None) -> Attempt:
    """The attempt with the outcome of its step; None for a contact that is not who it was."""
    match outcome:
        case None:
            return _at_next(attempt, attempt.contacts[1:])
        case Answer():
            attempt, meaning = replace(attempt, answer=outcome), join_result(outcome)
            blamed = meaning in (JoinResult.CONTACT_AWAY, JoinResult.CONTACT_BAD)
            return replace(attempt, ask=Ask.INSPECT) if blamed else _ended(attempt, meaning)
        case PeerHealth() if outcome.serves and attempt.ask is Ask.CHECK:
            return replace(attempt, ask=Ask.JOIN)
    return _passed(attempt, outcome)


def next_question(
    attempt: Attempt, within: float, *, intent: bool
) -> NetworkQuestion[PeerHealth | None] | NetworkQuestion[PeerHealth] | Join:
    """What an attempt that has not ended asks; a join may take so long, after an intent or not."""
    joiner, contact = attempt.joiner, attempt.contacts[0]
    match attempt.ask:
        case Ask.CHECK:
            return guarded_check(contact, CONTACT_SECONDS)
        case Ask.INSPECT:
            return inspect(contact, CONTACT_SECONDS)
    return Join(joiner.address, contact.address, within, joiner, contact, intent)


def conclude(attempt: Attempt, options: Options, now: datetime) -> tuple[Action, ...]:
    """What follows from an attempt that ended: whom to drop, and what becomes of the joiner."""
    drops = (*map(_dead, attempt.dead), *map(_impostor, attempt.bad))
    stack = tuple(peer for peer in attempt.stack if peer not in (*attempt.dead, *attempt.bad))
    match attempt.end:
        case End.FOUNDED if attempt.dead:
            # The network has lost its last member just now: who founds it is chosen with care.
            return drops
        case End.FOUNDED:
            return (*drops, found_network(attempt.joiner, stack, now))
        case End.JOINED:
            return (*drops, _joined(attempt, stack, now))
    return (*drops, _failed(attempt, options))


def _dead(peer: PeerView) -> Drop:
    return Drop(peer, "PeerDown", f"{peer.address} does not answer; dropped")


def _impostor(peer: PeerView) -> Drop:
    return Drop(peer, "NotALightpeer", foreign(peer), LONG_SECONDS)


def _at_next(attempt: Attempt, contacts: tuple[PeerView, ...]) -> Attempt:
    """The attempt with these contacts left, about to ask the first one.

    A silent contact may live and have everything: who founded a network again would lose it.
    """
    ask = Ask.CHECK if attempt.precheck else Ask.JOIN
    attempt = replace(attempt, contacts=contacts, ask=ask)
    if contacts:
        return attempt
    alone = End.SILENT if attempt.silent else End.FOUNDED
    return replace(attempt, end=End.UNREACHABLE if attempt.unreachable else alone)


def _passed(attempt: Attempt, health: PeerHealth) -> Attempt:
    """The attempt without its contact, by what our own look at the contact found.

    Dead ones and impostors are to be dropped; one that serves is only out of the joiner's reach.
    """
    head, rest = attempt.contacts[0], attempt.contacts[1:]
    match health:
        case PeerHealth.SERVING | PeerHealth.FAILING:
            attempt = replace(attempt, unreachable=(*attempt.unreachable, head))
        case PeerHealth.FOREIGN:
            attempt = replace(attempt, bad=(*attempt.bad, head))
        case PeerHealth.REFUSED:
            attempt = replace(attempt, dead=(*attempt.dead, head))
        case _:
            attempt = replace(attempt, silent=(*attempt.silent, head))
    return _at_next(attempt, rest)


def _ended(attempt: Attempt, meaning: JoinResult) -> Attempt:
    return replace(attempt, end=_ENDS[meaning])


def _joined(attempt: Attempt, stack: tuple[PeerView, ...], now: datetime) -> Enrol:
    joiner, contact = attempt.joiner, attempt.contacts[0]
    note = f"joined network {joiner.network.name} through {contact.key} at {contact.address}"
    record = record_of(joiner, contact.address, stack, now)
    return Enrol(joiner, record, End.JOINED, "Joined", note)


def _failed(attempt: Attempt, options: Options) -> Postpone:
    assert attempt.end is not None, "an attempt is concluded when it has ended"
    reason, note = _explained(attempt, attempt.end)
    backoffs = {
        End.NOT_A_PEER: LONG_SECONDS, End.TOO_LARGE: LONG_SECONDS, End.UNSETTLED: options.settle
    }  # fmt: skip
    return Postpone(
        attempt.joiner,
        note,
        reason,
        attempt.end,
        backoffs.get(attempt.end),
        trouble=attempt.end in (End.REFUSED, End.UNREACHABLE),
        unsettled=attempt.end is End.UNSETTLED,
    )


def _explained(attempt: Attempt, end: End) -> tuple[str, str]:
    """Reason and note of a failed attempt: what happened, and what to do."""
    who, answer = attempt.joiner.address, one_line(attempt.answer.text) or attempt.answer.code
    match end:
        case End.NOT_A_PEER:
            return "NotALightpeer", foreign(attempt.joiner)
        case End.TOO_LARGE:
            return "ChainBlockTooLarge", f"{answer}; a block of the chain is too large to be sent"
        case End.UNREACHABLE:
            names = ", ".join(peer.address for peer in attempt.unreachable)
            return "Unreachable", f"{who} cannot reach {names}: is there a NetworkPolicy between?"
        case End.SILENT:
            names = ", ".join(peer.address for peer in attempt.silent)
            return "Waiting", f"no member answers ({names}); waiting until they do, or are down"
        case End.UNSETTLED:
            return "JoinFailed", f"{who} did not answer in time; looking again before any retry"
        case End.REFUSED:
            return "JoinFailed", f"the network refused {who}: {answer}; it may need a repair"
    return "JoinFailed", f"{who} failed while joining: {answer}; trying again"


_ENDS = {
    JoinResult.JOINED: End.JOINED,
    JoinResult.JOINER_DOWN: End.RETRY,
    JoinResult.UNSETTLED: End.UNSETTLED,
    JoinResult.NOT_A_PEER: End.NOT_A_PEER,
    JoinResult.REFUSED: End.REFUSED,
    JoinResult.TOO_LARGE: End.TOO_LARGE,
}
