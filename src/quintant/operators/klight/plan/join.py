"""How one pod becomes a member: the steps of the reconciler, as one pure function.

    1    the stack is empty          -> found the network
    2    else                        -> try the head
    2.1  the head took it            -> joined
    2.2  the head is proven dead     -> drop it, and begin again at 1

What is proven is the point: a live contact is never dropped, and nobody founds a second network
beside a live one. A contact that the joiner cannot reach, though we can, is passed over and kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from quintant.operators.klight.observe.view import Peer
from quintant.operators.klight.plan.join_result import Health, JoinResult


class End(Enum):
    """How an attempt ended."""

    FOUND = "founded"
    JOINED = "joined"
    RETRY = "joiner-down"
    """The joiner's fault: try again later."""
    UNSETTLED = "unsettled"
    """Nobody knows: look again later, and join again only if it did not happen."""
    NOT_A_PEER = "not-a-lightpeer"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    """The joiner reaches no member, though some live."""
    SILENT = "silent"
    """No member answers, and none is proven dead."""
    TOO_LARGE = "too-large"


@dataclass(frozen=True, slots=True)
class Attempt:
    """How far the attempt to join one pod is."""

    joiner: Peer
    contacts: tuple[Peer, ...]
    """Those still to be tried, newest first."""
    dead: tuple[Peer, ...] = ()
    """Proven dead on the way: to be dropped from the stack."""
    bad: tuple[Peer, ...] = ()
    """Alive, and no lightpeers: to be dropped from the stack, too."""
    silent: tuple[Peer, ...] = ()
    """Slow or dead, nobody knows: passed over, and dropped only by the checks of members."""
    unreachable: tuple[Peer, ...] = ()
    """Alive, but not for the joiner."""

    @property
    def contact(self) -> Peer | None:
        """Whom to try next."""
        return self.contacts[0] if self.contacts else None


def begin(joiner: Peer, stack: tuple[Peer, ...]) -> Attempt:
    """An attempt with everybody but oneself as contacts."""
    return Attempt(joiner, tuple(peer for peer in stack if peer.uid != joiner.uid))


def exhausted(attempt: Attempt) -> End:
    """How an attempt ends that has no contacts left.

    A silent contact may live and have everything: whoever founded anew would lose it.
    """
    if attempt.unreachable:
        return End.UNREACHABLE
    return End.SILENT if attempt.silent else End.FOUND


def passed(attempt: Attempt, health: Health) -> Attempt:
    """The attempt without its contact, by what our own look at the contact found.

    Dead ones and impostors are to be dropped; one that serves is only out of the joiner's reach.
    """
    head, rest = attempt.contacts[0], attempt.contacts[1:]
    match health:
        case Health.SERVING:
            return replace(attempt, contacts=rest, unreachable=(*attempt.unreachable, head))
        case Health.FOREIGN:
            return replace(attempt, contacts=rest, bad=(*attempt.bad, head))
        case Health.REFUSED:
            return replace(attempt, contacts=rest, dead=(*attempt.dead, head))
    return replace(attempt, contacts=rest, silent=(*attempt.silent, head))


def blamed(meaning: JoinResult) -> bool:
    """Whether an answer blames the contact, so that we have to look at it ourselves."""
    return meaning in (JoinResult.CONTACT_AWAY, JoinResult.CONTACT_BAD)


def ended(meaning: JoinResult) -> End:
    """How an attempt ends with an answer that does not blame the contact."""
    return _ENDS[meaning]


_ENDS = {
    JoinResult.JOINED: End.JOINED,
    JoinResult.JOINER_DOWN: End.RETRY,
    JoinResult.UNSETTLED: End.UNSETTLED,
    JoinResult.NOT_A_PEER: End.NOT_A_PEER,
    JoinResult.REFUSED: End.REFUSED,
    JoinResult.TOO_LARGE: End.TOO_LARGE,
}
