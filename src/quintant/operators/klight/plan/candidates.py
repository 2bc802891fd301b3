"""Who is to be joined now, who is a member already, who founds, and when to look again. Pure.

A peer without a record may be a member already: then it is not joined again. One of our own peers
is one if it and a contact know each other. A peer of another make tells nobody whom it sees: where
there is reason to doubt, it is one if its chain is the contact's, and none if it has no chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum, auto

from quintant.core.clock import timestamp
from quintant.operators.klight.observe.memory import Memory
from quintant.operators.klight.observe.view import Observed, PeerView
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.join_result import Contents
from quintant.operators.klight.plan.probe import founding_order, seen_by
from quintant.wire.peeradmin import StatusResponse

BATCH = 64
"""How many pods are checked for one turn: checks of thousands would be old when their turn comes.
A network that is to be founded looks at all, for anyone may be the one with contents."""
SPELLS = 10
"""Pods that keep coming delay the founding of their network by so many quiet spells at most."""
RETURN_SECONDS = 5.0
"""How long a network that lost all its members waits for them before somebody founds it anew:
one of them may have what the others have not."""
EVICTION_SECONDS = 5.0
"""After so long, peers of another make have surely forgotten one that was down."""
DOUBLINGS = 2
"""How often the deadline doubles for a pod whose joins took longer: a slow disk, a long chain."""
PER_MEMBER_SECONDS = 0.01
"""What each member adds to the deadline of a join: all are told."""
PACE_SECONDS = 0.05
"""A turn that left something to do is followed by the next one no sooner."""
WITNESSES = 3
"""How many contacts are asked whether somebody is a member already."""


class Proof(Enum):
    """What makes a member of a peer of another make."""

    NONE = auto()
    """Nothing: it is joined."""
    ASSUMED = auto()
    CONTENTS = auto()
    """It has what the contact has."""


def due(observed: Observed, memory: Memory, now: float) -> list[PeerView]:
    """Whom to check and join now, those first who failed least."""
    ready = [each for each in waiting(observed) if memory.attempts.due(each.uid) <= now]
    ready.sort(key=lambda peer: memory.attempts.failures(peer.uid))
    return ready[:BATCH] if observed.stack else ready


def waiting(observed: Observed) -> list[PeerView]:
    """Those who are to become members, and have no other network to leave first."""
    return [peer for peer in observed.candidates if not peer.elsewhere]


def absent(observed: Observed, ready: Sequence[PeerView]) -> bool:
    """Whether a former member does not serve yet."""
    former = {peer.uid for peer in observed.peers if peer.generation}
    return not former <= {peer.uid for peer in ready}


def founding_pause(options: Options, memory: Memory, missed: bool, now: float) -> float:
    """Seconds until a network may be founded: its pods are still, and nobody is missed."""
    quiet = options.found_after
    still = min(memory.still + quiet, memory.born + SPELLS * quiet)
    back = memory.memberless + RETURN_SECONDS if missed and memory.memberless is not None else now
    return max(still, back) - now


def founder_first(
    ready: Sequence[PeerView], told: Mapping[str, StatusResponse | None]
) -> list[PeerView]:
    """Those who are ready, the one that is to found the network first."""
    return sorted(ready, key=lambda peer: (founding_order(told[peer.uid]), peer.age))


def proof_of(options: Options, *, unsettled: bool, older: bool, intended: bool = False) -> Proof:
    """What is asked of a peer of another make that may have been joined, by us or before us."""
    if intended:
        return Proof.CONTENTS
    if options.adopt == "join" or not (unsettled or older):
        return Proof.NONE
    return Proof.ASSUMED if options.adopt == "assume" and not unsettled else Proof.CONTENTS


def same_chain(blank: bool | None, mine: Contents, theirs: Contents) -> bool:
    """Whether a peer of another make and a contact have one chain, as far as they tell.

    One that is not blank has been in a network: if neither has contents, in the contact's. One may
    have what the other has not yet: somebody writes right now.
    """
    shared = min(len(mine), len(theirs))
    if blank or (not shared and (mine or theirs)):
        return False
    return mine[-shared:] == theirs[-shared:] if shared else blank is False


def witnesses(
    joiner: PeerView, status: StatusResponse, stack: Sequence[PeerView]
) -> list[PeerView]:
    """The contacts that a peer of our own says it knows."""
    known = seen_by(status) - {joiner.address}
    return [peer for peer in stack if peer.address in known][:WITNESSES]


def knows(theirs: StatusResponse | None, joiner: PeerView, status: StatusResponse) -> bool:
    """Whether a contact knows a joiner, by either of its addresses."""
    return theirs is not None and bool({joiner.address, status.address} & seen_by(theirs))


def eviction_pause(joiner: PeerView, memory: Memory, since: float, now: float) -> float:
    """Seconds for which peers of another make may still list one that was down for a moment."""
    listed = joiner.uid in memory.foreign and joiner.generation
    return since + EVICTION_SECONDS - now if listed else 0.0


def join_deadline(options: Options, late: int, members: int) -> float:
    """How long a join may take, of a pod that was late so often, in a network of so many."""
    return 2.0 ** min(late, DOUBLINGS) * options.join_timeout + PER_MEMBER_SECONDS * members


def precedes(peer: PeerView, began: datetime) -> bool:
    """Whether a pod was there before this process: somebody else may have joined it."""
    # A moment within the same second may be before it.
    return (peer.pod.metadata.creation_timestamp or "") <= timestamp(began)


def next_look(observed: Observed, memory: Memory, now: float) -> float:
    """Seconds until there is something to do without anybody telling us."""
    moments = [memory.next_probe]
    if not memory.paused:
        leaving = [*(pod.metadata.uid for pod in observed.leavers), *memory.leaving]
        uids = [*(peer.uid for peer in waiting(observed)), *leaving]
        moments += [memory.attempts.due(uid) for uid in uids]
    return max(PACE_SECONDS, min(moments) - now)
