"""Away from lost nodes: who leaves, when, in which order, and when nobody does. Pure.

When most nodes are lost at once, the fault is probably ours, or the network's: moving everything to
the few that are left would make it worse. The guard then holds evacuations back, but not for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from quintant.core.object import Request

GUARD_SHARE = 0.55
"""More than this part of the nodes must be out of reach,"""
GUARD_NODES = 3
"""and at least so many, for the fault to be somewhere else."""


class GuardPhase(Enum):
    """Whether evacuations are held back."""

    CLEAR = "clear"
    HOLDING = "holding"
    """Too many nodes are gone at once."""
    EXPIRED = "expired"
    """They still are, and it has lasted: evacuations go on."""


@dataclass(frozen=True, slots=True)
class GuardState:
    """The guard, and since when it is so."""

    phase: GuardPhase = GuardPhase.CLEAR
    since: float = 0.0


def guard_step(
    state: GuardState, *, known: int, away: int, now: float, expires: float
) -> GuardState:
    """The guard that follows: of `known` nodes so many are `away`."""
    if away < GUARD_NODES or away <= GUARD_SHARE * known:
        return state if state.phase is GuardPhase.CLEAR else GuardState(GuardPhase.CLEAR, now)
    if state.phase is GuardPhase.CLEAR:
        return GuardState(GuardPhase.HOLDING, now)
    if state.phase is GuardPhase.HOLDING and now - state.since >= expires:
        return GuardState(GuardPhase.EXPIRED, now)
    return state


@dataclass(frozen=True, slots=True)
class LostNode:
    """A node that is lost, and since when it has not been ready."""

    since: float
    crashed: bool = False
    autonomy: float | None = None
    """What its devices wait before they leave, unless they say otherwise."""


@dataclass(frozen=True, slots=True)
class Evacuee:
    """A deviceShifu on a lost node."""

    key: Request
    node: str
    priority: int = 0
    created: str = ""
    stays: bool = False
    """Whether it belongs there: pinned, or never to be moved."""
    autonomy: float | None = None


def leaving(evacuees: Iterable[Evacuee], lost: Mapping[str, LostNode], now: float) -> list[Evacuee]:
    """Those that leave now, in the order in which they find room."""
    due = [each for each in evacuees if not each.stays and _due(each, lost[each.node], now)]
    return sorted(due, key=lambda each: (-each.priority, each.created, each.key))


def _due(evacuee: Evacuee, node: LostNode, now: float) -> bool:
    if node.crashed:
        return True
    patience = node.autonomy if evacuee.autonomy is None else evacuee.autonomy
    return patience is None or now - node.since >= patience
