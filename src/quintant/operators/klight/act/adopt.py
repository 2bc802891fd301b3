"""Asks whether a peer without a record is a member already; `plan.adoption` says what proves it."""

from __future__ import annotations

from collections.abc import Sequence

from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.observe.memory import Wait
from quintant.operators.klight.observe.view import Peer
from quintant.operators.klight.plan.adoption import Proof, knows, proof_of, witnesses
from quintant.operators.klight.plan.candidates import precedes

STATUS_SECONDS = 2.0
"""How long a peer may take to tell whom it sees."""
READ_SECONDS = 5.0
"""How long everything a peer has may take to be read."""


async def is_member(context: JoinContext, joiner: Peer, stack: Sequence[Peer], wait: Wait) -> bool:
    """Whether a member knows the joiner, and is known to it."""
    status = await context.peers.status(joiner.address, STATUS_SECONDS)
    if status is None:
        context.memory.foreign.add(joiner.uid)
        return await _alike(context, joiner, stack[0], wait)
    context.memory.foreign.discard(joiner.uid)
    for contact in witnesses(joiner, status, stack):
        theirs = await context.peers.status(contact.address, STATUS_SECONDS)
        if knows(theirs, joiner, status):
            return True
    return False


async def _alike(context: JoinContext, joiner: Peer, contact: Peer, wait: Wait) -> bool:
    """Whether a peer of another make is to be taken for a member already."""
    older = precedes(joiner, context.began)
    proof = proof_of(context.options, unsettled=wait.unsettled, older=older)
    if proof is not Proof.CONTENTS:
        return proof is Proof.ASSUMED
    mine = await context.peers.contents(joiner.address, READ_SECONDS)
    return bool(mine) and mine == await context.peers.contents(contact.address, READ_SECONDS)
