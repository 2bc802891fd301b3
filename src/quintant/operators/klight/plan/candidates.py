"""Who is to be joined now, who founds, and how long each has to wait. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quintant.operators.klight.observed.memory import JoinMemory, Wait, wait_of
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.sweep import founding_order
from quintant.wire.peeradmin import StatusResponse

BATCH = 64
"""How many pods are checked for one turn: checks of thousands would be old when their turn comes.
A network that is to be founded looks at all, for anyone may be the one with contents."""
SPELLS = 10
"""Pods that keep coming delay the founding of their network by so many quiet spells at most."""
RETURN_SECONDS = 5.0
"""How long a network that lost all its members waits for them before another pod founds it again:
one of them may have what the others have not."""
EVICTION_SECONDS = 5.0
"""After so long, peers of another make have surely forgotten one that was down."""
DOUBLINGS = 2
"""How often the deadline doubles for a pod whose joins took longer: a slow disk, a long chain."""
CLAIM_SECONDS = 5.0
"""Between two looks at a pod that another process may be joining."""
PER_MEMBER_SECONDS = 0.01
"""What each member adds to the deadline of a join: all are notified."""


def waits(observed: Observed, memory: JoinMemory, now: float) -> dict[str, Wait]:
    """What is known of those who wait, with those who just came."""
    fresh = {
        peer.uid: wait_of(memory.waits, peer.uid, peer.incarnation, now)
        for peer in waiting(observed)
    }
    return {**memory.waits, **fresh}


def due(observed: Observed, memory: JoinMemory, now: float) -> list[PeerView]:
    """Whom to check and join now, those first who failed least."""
    known = waits(observed, memory, now)
    ready = [peer for peer in waiting(observed) if known[peer.uid].due <= now]
    ready.sort(key=lambda peer: known[peer.uid].failures)
    return ready[:BATCH] if observed.stack else ready


def waiting(observed: Observed) -> list[PeerView]:
    """Those who are to become members, and have no other network to leave first."""
    return [peer for peer in observed.candidates if not peer.elsewhere]


def absent(observed: Observed, ready: Sequence[PeerView]) -> bool:
    """Whether a former member does not serve yet."""
    former = {peer.uid for peer in observed.peers if peer.generation}
    return not former <= {peer.uid for peer in ready}


def founding_pause(options: Options, memory: JoinMemory, missed: bool, now: float) -> float:
    """Seconds until a network may be founded: its pods are still, and no member is missed."""
    quiet = options.found_after
    still = min(memory.still + quiet, memory.born + SPELLS * quiet)
    back = memory.memberless + RETURN_SECONDS if missed and memory.memberless is not None else now
    return max(still, back) - now


def founder_first(
    ready: Sequence[PeerView], statuses: Mapping[str, StatusResponse | None]
) -> list[PeerView]:
    """Those who are ready, the one that is to found the network first."""
    return sorted(ready, key=lambda peer: (founding_order(statuses[peer.uid]), peer.age))


def eviction_pause(joiner: PeerView, foreign: bool, since: float, now: float) -> float:
    """Seconds for which peers of another make may still list one that was down for a moment."""
    return since + EVICTION_SECONDS - now if foreign and joiner.generation else 0.0


def claim_pause(wait: Wait, options: Options, now: float) -> float:
    """Seconds until a pod is looked at again that another process was about to join; 0 if that
    join has surely ended, and may be followed by ours."""
    if wait.claimed is None:
        return 0.0
    return min(wait.claimed + options.settle - now, CLAIM_SECONDS)


def join_deadline(options: Options, late: int, members: int) -> float:
    """How long a join may take, of a pod that was late so often, in a network of so many."""
    return 2.0 ** min(late, DOUBLINGS) * options.join_timeout + PER_MEMBER_SECONDS * members
