"""Whether a peer without a record is a member already: then it is not joined again. Pure.

One of our own peers is a member if it and a contact know each other. A peer of another make tells
nobody whom it sees: where there is reason to doubt, contents that equal the contact's decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from quintant.operators.klight.observe.view import Peer
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.probe import seen_by
from quintant.wire.peeradmin import Status

WITNESSES = 3
"""How many contacts are asked whether somebody is a member already."""


class Proof(Enum):
    """What makes a member of a peer of another make."""

    NONE = auto()
    """Nothing: it is joined."""
    ASSUMED = auto()
    CONTENTS = auto()
    """It has what the contact has."""


def proof_of(options: Options, *, unsettled: bool, older: bool) -> Proof:
    """What is asked of a peer of another make that may have been joined, by us or before us."""
    if options.adopt == "join" or not (unsettled or older):
        return Proof.NONE
    return Proof.ASSUMED if options.adopt == "assume" and not unsettled else Proof.CONTENTS


def witnesses(joiner: Peer, status: Status, stack: Sequence[Peer]) -> list[Peer]:
    """The contacts that a peer of our own says it knows."""
    known = seen_by(status) - {joiner.address}
    return [peer for peer in stack if peer.address in known][:WITNESSES]


def knows(theirs: Status | None, joiner: Peer, status: Status) -> bool:
    """Whether a contact knows a joiner, by either of its addresses."""
    return theirs is not None and bool({joiner.address, status.address} & seen_by(theirs))
