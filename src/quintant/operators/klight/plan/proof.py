"""Whether a peer without a record is a member already: then it is not joined again. Pure.

One of our own peers is one if it and a contact know each other. A peer of another make does not
tell whom it sees: where there is reason to doubt, it is one if its chain is the contact's, and none
if it has no chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Any

from quintant.core.clock import timestamp
from quintant.operators.klight.observed.answers import Contents
from quintant.operators.klight.observed.memory import Wait
from quintant.operators.klight.observed.network import PeerView
from quintant.operators.klight.observed.questions import (
    Answers,
    NetworkQuestion,
    blank,
    contents,
    status,
)
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.sweep import seen_members
from quintant.wire.peeradmin import StatusResponse

STATUS_SECONDS = 2.0
"""How long a peer may take to tell whom it sees."""
READ_SECONDS = 5.0
"""How long everything a peer has may take to be read."""
LOOKS = 3
"""How often two chains are compared before they count as two: a client may write meanwhile."""
WITNESSES = 3
"""How many contacts are asked whether a peer is a member already."""


class Proof(Enum):
    """What makes a member of a peer of another make."""

    NONE = auto()
    """Nothing: it is joined."""
    ASSUMED = auto()
    CONTENTS = auto()
    """It has what the contact has."""


@dataclass(frozen=True, slots=True)
class MembershipProof:
    """What is asked about a joiner and the members of its network, and what the answers mean."""

    joiner: PeerView
    stack: Sequence[PeerView]
    wanted: Proof
    """What it takes if the joiner is a peer of another make."""

    def questions(self, answers: Answers) -> Iterator[NetworkQuestion[Any]]:
        """What is asked one after another, each after the answers to those before it."""
        yield status(self.joiner, STATUS_SECONDS)
        if not self.foreign(answers):
            yield from self._of_witnesses(answers)
        elif self.wanted is Proof.CONTENTS:
            yield from self._of_chains(answers)

    def foreign(self, answers: Answers) -> bool:
        """Whether the joiner is a peer of another make, or silent."""
        return answers[status(self.joiner, STATUS_SECONDS)] is None

    def holds(self, answers: Answers) -> bool:
        """Whether the joiner is a member already, once all was asked."""
        if not self.foreign(answers):
            return any(self._known_to(peer, answers) for peer in self._witnesses(answers))
        if self.wanted is not Proof.CONTENTS:
            return self.wanted is Proof.ASSUMED
        return any(self._alike(look, answers) for look in range(LOOKS))

    def _witnesses(self, answers: Answers) -> list[PeerView]:
        reply = answers[status(self.joiner, STATUS_SECONDS)]
        return witnesses(self.joiner, reply, self.stack) if reply is not None else []

    def _of_witnesses(self, answers: Answers) -> Iterator[NetworkQuestion[Any]]:
        for contact in self._witnesses(answers):
            yield status(contact, STATUS_SECONDS)
            if self._known_to(contact, answers):
                return

    def _known_to(self, contact: PeerView, answers: Answers) -> bool:
        mine = answers[status(self.joiner, STATUS_SECONDS)]
        theirs = answers.get(status(contact, STATUS_SECONDS))
        return mine is not None and knows(theirs, self.joiner, mine)

    def _of_chains(self, answers: Answers) -> Iterator[NetworkQuestion[Any]]:
        yield blank(self.joiner, STATUS_SECONDS)
        for look in range(LOOKS if not answers[blank(self.joiner, STATUS_SECONDS)] else 0):
            yield contents(self.joiner, READ_SECONDS, look)
            yield contents(self.stack[0], READ_SECONDS, look)
            if self._alike(look, answers):
                return

    def _alike(self, look: int, answers: Answers) -> bool:
        mine = answers.get(contents(self.joiner, READ_SECONDS, look))
        theirs = answers.get(contents(self.stack[0], READ_SECONDS, look))
        if mine is None or theirs is None:
            return False
        return same_chain(answers[blank(self.joiner, STATUS_SECONDS)], mine, theirs)


def membership_proof(
    joiner: PeerView, stack: Sequence[PeerView], wait: Wait, options: Options, began: datetime
) -> MembershipProof:
    """What it takes to be a member already, for a joiner in a process that began at a moment."""
    wanted = proof_of(
        options,
        unsettled=wait.unsettled,
        older=precedes(joiner, began),
        intended=joiner.intended,
    )
    return MembershipProof(joiner, stack, wanted)


def proof_of(options: Options, *, unsettled: bool, older: bool, intended: bool = False) -> Proof:
    """What is asked of a peer of another make that may have been joined, by us or before us."""
    if intended:
        return Proof.CONTENTS
    if options.adopt == "join" or not (unsettled or older):
        return Proof.NONE
    return Proof.ASSUMED if options.adopt == "assume" and not unsettled else Proof.CONTENTS


def same_chain(is_blank: bool | None, mine: Contents, theirs: Contents) -> bool:
    """Whether a peer of another make and a contact have one chain, as far as they tell.

    One that is not blank has been in a network: if neither has contents, in the contact's. One may
    have what the other has not yet: a client writes right now.
    """
    shared = min(len(mine), len(theirs))
    if is_blank or (not shared and (mine or theirs)):
        return False
    return mine[-shared:] == theirs[-shared:] if shared else is_blank is False


def witnesses(joiner: PeerView, reply: StatusResponse, stack: Sequence[PeerView]) -> list[PeerView]:
    """The contacts that a peer of our own says it knows."""
    known = seen_members(reply) - {joiner.address}
    return [peer for peer in stack if peer.address in known][:WITNESSES]


def knows(theirs: StatusResponse | None, joiner: PeerView, reply: StatusResponse) -> bool:
    """Whether a contact knows a joiner, by either of its addresses."""
    return theirs is not None and bool({joiner.address, reply.address} & seen_members(theirs))


def precedes(peer: PeerView, began: datetime) -> bool:
    """Whether a pod was there before this process: another controller may have joined it."""
    # A moment within the same second may be before it.
    return (peer.pod.metadata.creation_timestamp or "") <= timestamp(began)
