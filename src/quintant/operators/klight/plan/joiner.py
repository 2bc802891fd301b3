"""What becomes of a pod that is to join: a member, or one that waits, and what its owner reads."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from quintant.api.meta import Condition, condition_of
from quintant.core.clock import find_timestamp, micro_timestamp, timestamp
from quintant.operators.klight.api import ADOPTED, FOUNDER, JOINED, PeerPod
from quintant.operators.klight.observed.answers import PeerHealth
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.network import PeerView
from quintant.operators.klight.plan.actions import End, Enrol, Postpone

START_SECONDS = 5.0
"""How long a peer may take to start before a warning says that it is waited for."""
LONG_SECONDS = 40.0
"""Between tries where only a human can help: no lightpeer listens, or the chain cannot be sent.

With its jitter and a call that runs out of time it stays below a minute: so long the truth may take
after a peer answered something else."""
_TICK = timedelta(microseconds=1)


def record_of(peer: PeerView, via: str, stack: Sequence[PeerView], now: datetime) -> Membership:
    """The record of a peer that becomes a member, on top of the stack."""
    return Membership(
        str(peer.network), peer.incarnation, peer.address, _joined_at(stack, now), via,
        peer.generation + 1,
    )  # fmt: skip


def _joined_at(stack: Sequence[PeerView], now: datetime) -> str:
    """Now, but later than the newest member's: the order of the stack is the order of joins."""
    last = find_timestamp(stack[0].record.joined_at) if stack and stack[0].record else None
    if last is not None and last >= now:
        now = last + _TICK
    return micro_timestamp(now)


def found_network(peer: PeerView, stack: Sequence[PeerView], now: datetime) -> Enrol:
    """A peer founds its network."""
    note = f"founded network {peer.network.name}"
    record = record_of(peer, FOUNDER, stack, now)
    return Enrol(peer, record, End.FOUNDED, "NetworkFormed", note)


def adopt(peer: PeerView, stack: Sequence[PeerView], now: datetime) -> Enrol:
    """A peer is a member already."""
    note = f"is in network {peer.network.name} already"
    return Enrol(peer, record_of(peer, ADOPTED, stack, now), End.ADOPTED, "Joined", note)


def not_serving(peer: PeerView, health: PeerHealth, waited: float) -> Postpone:
    """A peer does not serve, for so many seconds by now."""
    waiting = f"{peer.address} is {health.value}"
    if health is PeerHealth.FOREIGN:
        return Postpone(peer, waiting, "NotALightpeer", End.NOT_A_PEER, LONG_SECONDS)
    return Postpone(peer, waiting, "Waiting" if waited > START_SECONDS else "")


def withdrawn(action: Postpone, intents: Container[str]) -> Postpone:
    """The same, with the intent taken back if one stands on the pod and was surely not followed."""
    known = action.end is not None and action.end.known
    noted = action.peer.uid in intents or action.peer.intended
    return replace(action, withdraws=known and noted)


def warning(action: Postpone) -> str:
    """What a warning tells the owner of a pod."""
    if action.reason == "NotALightpeer":
        return foreign(action.peer)
    return action.waiting if action.end else f"{action.waiting}; is lightpeer running there?"


def foreign(peer: PeerView) -> str:
    """What is wrong with something else that listens where a peer should."""
    return (
        f"what listens at {peer.address} is no lightpeer; "
        "name the right port, or run lightpeer there"
    )


def gate_condition(pod: PeerPod, waits: str, now: datetime) -> Condition | None:
    """What a pod shows of its membership; None if it does not ask for it, or shows it.

    A pod asks by naming the condition among its readiness gates: a Service then sends no client
    to it before it has joined, and a rollout continues only when it has.
    """
    status = "False" if waits else "True"
    asks = any(gate.condition_type == JOINED for gate in pod.spec.readiness_gates)
    before = condition_of(pod.status.conditions, JOINED)
    if not asks or pod.deleting or (before is not None and before.status == status):
        return None
    reason, since = "Waiting" if waits else "Member", timestamp(now)
    return Condition(
        type=JOINED, status=status, reason=reason, message=waits, last_transition_time=since
    )
