"""Finds out whether a peer without a record is a member already: then it is not joined again.

One of our own peers is a member if it and a contact know each other. A peer of another make tells
nobody whom it sees: where there is reason to doubt, contents that equal the contact's decide.
"""

from __future__ import annotations

from collections.abc import Sequence

from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.observe.memory import Try
from quintant.operators.klight.observe.view import Peer
from quintant.operators.klight.plan.probe import seen_by

STATUS_SECONDS = 2.0
"""How long a peer may take to tell whom it sees."""
READ_SECONDS = 5.0
"""How long everything a peer has may take to be read."""
WITNESSES = 3
"""How many contacts are asked whether somebody is a member already."""


async def sponsor(
    desk: JoinContext, joiner: Peer, stack: Sequence[Peer], trial: Try
) -> Peer | None:
    """A member that knows the joiner, and is known to it."""
    status = await desk.peers.status(joiner.address, STATUS_SECONDS)
    if status is None:
        desk.memory.foreign.add(joiner.uid)
        return await _alike(desk, joiner, stack[0], trial)
    desk.memory.foreign.discard(joiner.uid)
    known = seen_by(status) - {joiner.address}
    for contact in [peer for peer in stack if peer.address in known][:WITNESSES]:
        theirs = await desk.peers.status(contact.address, STATUS_SECONDS)
        if theirs is not None and {joiner.address, status.address} & seen_by(theirs):
            return contact
    return None


async def _alike(desk: JoinContext, joiner: Peer, contact: Peer, trial: Try) -> Peer | None:
    """The contact, if a peer of another make is to be taken for a member already."""
    policy = desk.options.adopt
    if policy == "join" or not (trial.unsettled or desk.older(joiner)):
        return None
    if policy == "assume" and not trial.unsettled:
        return contact
    mine = await desk.peers.contents(joiner.address, READ_SECONDS)
    if not mine:
        return None
    theirs = await desk.peers.contents(contact.address, READ_SECONDS)
    return contact if mine == theirs else None
