"""What is to be done about a pod, as values: decided by the plan, carried out by `act`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from quintant.api.meta import Condition, condition_of
from quintant.core.clock import timestamp
from quintant.operators.klight.api import ADOPTED, FOUNDER, JOINED, PeerPod
from quintant.operators.klight.observe.view import PeerView
from quintant.operators.klight.plan.join_result import PeerHealth

START_SECONDS = 5.0
"""How long a peer may take to start before its owner is told that it is waited for."""


class End(Enum):
    """How an attempt to join a pod ended, as the metrics have it."""

    FOUND = "founded"
    JOINED = "joined"
    ADOPTED = "adopted"
    """It was a member already."""
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

    @property
    def known(self) -> bool:
        """Whether it is certain that the pod was not joined."""
        return self in (End.NOT_A_PEER, End.REFUSED, End.UNREACHABLE, End.SILENT, End.TOO_LARGE)


@dataclass(frozen=True, slots=True)
class Drop:
    """Take a member off the stack."""

    peer: PeerView
    reason: str
    note: str
    long: bool = False
    """Whether it is left alone for long: only a human can help."""


@dataclass(frozen=True, slots=True)
class Enrol:
    """Record a peer as a member, on top of the stack."""

    peer: PeerView
    via: str
    end: End
    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class Postpone:
    """Try a pod again later."""

    peer: PeerView
    waiting: str
    """For what it waits, in words."""
    reason: str = ""
    """That of the warning; empty if it is too early for one."""
    end: End | None = None
    """How an attempt ended; None if there was none."""
    long: bool = False
    trouble: bool = False
    """Whether it says something about the network, too."""
    unsettled: bool | None = None
    """Whether a join may still be going on; None leaves what is known of it."""


Action = Drop | Enrol | Postpone


def found(peer: PeerView) -> Enrol:
    """A peer founds its network."""
    note = f"founded network {peer.network.name}"
    return Enrol(peer, FOUNDER, End.FOUND, "NetworkFormed", note)


def adopt(peer: PeerView) -> Enrol:
    """A peer is a member already."""
    note = f"is in network {peer.network.name} already"
    return Enrol(peer, ADOPTED, End.ADOPTED, "Joined", note)


def not_serving(peer: PeerView, health: PeerHealth, waited: float) -> Postpone:
    """A peer does not serve, for so many seconds by now."""
    waiting = f"{peer.address} is {health.value}"
    if health is PeerHealth.FOREIGN:
        return Postpone(peer, waiting, "NotALightpeer", End.NOT_A_PEER, long=True)
    return Postpone(peer, waiting, "Waiting" if waited > START_SECONDS else "")


def warning(action: Postpone) -> str:
    """What the owner of a pod is told."""
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
    """What a pod is told of its membership; None if it does not ask for it, or knows.

    A pod asks by naming the condition among its readiness gates: a Service then sends nobody to it
    before it has joined, and a rollout goes on only when it has.
    """
    status = "False" if waits else "True"
    asks = any(gate.condition_type == JOINED for gate in pod.spec.readiness_gates)
    found = condition_of(pod.status.conditions, JOINED)
    if not asks or pod.deleting or (found is not None and found.status == status):
        return None
    reason, since = "Waiting" if waits else "Member", timestamp(now)
    return Condition(
        type=JOINED, status=status, reason=reason, message=waits, last_transition_time=since
    )
