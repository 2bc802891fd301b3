"""Away from lost nodes: which devices leave, when, in which order and to which node. Pure.

When most nodes are lost at once, the fault is probably ours, or the network's: moving everything to
the few that are left would make it worse. The guard then holds evacuations back, but not for ever.
All that leave are planned together, which is what gives the important ones room first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from quintant.core.object import Request
from quintant.operators.shifu.observed.moves import (
    EvacuationView,
    LostNode,
    PlannedMove,
    StrandedDevice,
)
from quintant.operators.shifu.observed.placement import NoPlacement, placement_request
from quintant.operators.shifu.plan.device import find_any_placement
from quintant.operators.shifu.plan.placement import NodeTable
from quintant.operators.shifu.rules.hints import resolve_hints

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
    """They still are, and it has lasted: evacuations continue."""


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


@dataclass(frozen=True, slots=True)
class EvacuationMemory:
    """What is remembered from one plan to the next."""

    guard: GuardState = GuardState()
    tried: frozenset[Request] = frozenset()
    """Those that were to leave last,"""
    capacity: int = -1
    """and the view's capacity after that: before either changes, nothing else is feasible."""


@dataclass(frozen=True, slots=True)
class Evacuation:
    """What follows for the devices of lost nodes."""

    memory: EvacuationMemory
    due: tuple[Request, ...] = ()
    """All that leave now, those that find room first before others."""
    moves: tuple[PlannedMove, ...] = ()
    unplaced: Mapping[Request, str] = field(default_factory=dict)
    """Those for which no node is feasible, and why."""

    @property
    def held(self) -> bool:
        """Whether evacuations are held back, since most nodes are lost at once."""
        return self.memory.guard.phase is GuardPhase.HOLDING


def plan_evacuation(
    view: EvacuationView,
    memory: EvacuationMemory,
    new_table: Callable[[], NodeTable],
    *,
    expires: float,
) -> Evacuation:
    """Who leaves lost nodes now, and to which node each goes.

    `new_table` makes a table to plan with: each move is bound in it before the next is planned.
    `expires` is after how many seconds evacuations are held back no longer.
    """
    guard = guard_step(
        memory.guard, known=view.known, away=view.away, now=view.now, expires=expires
    )
    memory = replace(memory, guard=guard)
    if guard.phase is GuardPhase.HOLDING or not view.lost:
        return Evacuation(memory)
    stranded = {each.key: each for each in view.devices}
    leave = leaving(map(_evacuee, stranded.values()), view.lost, view.now)
    due = tuple(each.key for each in leave)
    if not due or (memory.capacity, memory.tried) == (view.capacity, frozenset(due)):
        return Evacuation(memory)
    moves, unplaced = _plan_moves([stranded[key] for key in due], new_table())
    return Evacuation(replace(memory, tried=frozenset(due)), due, moves, unplaced)


def _evacuee(stranded: StrandedDevice) -> Evacuee:
    device = stranded.device
    hints = resolve_hints(device)
    return Evacuee(
        stranded.key,
        stranded.node,
        hints.priority,
        device.metadata.creation_timestamp or "",
        stays=hints.pinned or hints.reschedule == "never",
        autonomy=hints.autonomy,
    )


def _plan_moves(
    devices: Sequence[StrandedDevice], table: NodeTable
) -> tuple[tuple[PlannedMove, ...], dict[Request, str]]:
    moves, unplaced = list[PlannedMove](), dict[Request, str]()
    for each in devices:
        want = placement_request(each.device, resolve_hints(each.device), each.avoided)
        decision = find_any_placement(table.find_placement, want)
        if isinstance(decision, NoPlacement):
            unplaced[each.key] = decision.message
        else:
            table.bind(decision.node, want.memory)
            moves.append(PlannedMove(each.key, each.node, decision))
    return tuple(moves), unplaced
