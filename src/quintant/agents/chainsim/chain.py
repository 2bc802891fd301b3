"""How a simulated node goes on, block by block. Pure: one step function, and what it is told.

STARTING --peers told their height, or none did--> SYNCING --level--> RUNNING
RUNNING --a plan that this version does not know--> HALTED: alive, and waiting
RUNNING --halt-height of app.toml--> ENDED: the process ends
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

SYNC_BLOCKS = 500
"""Blocks that a node which is behind gets with a step."""


class SimulationPhase(StrEnum):
    """What a node does."""

    STARTING = "starting"
    SYNCING = "syncing"
    RUNNING = "running"
    HALTED = "halted"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class UpgradePlan:
    """An upgrade that a chain agreed on."""

    name: str
    height: int


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with a node, at a test's wish."""

    lag: int = 0
    """Blocks that it stays behind, and claims to be in sync."""
    frozen: bool = False
    """It gets no more blocks."""
    catching_up: bool = False
    """It claims to catch up, for ever."""
    garbage: str = ""
    """What it answers instead; quintant.agents.chainsim.rpc has the kinds."""


@dataclass(frozen=True, slots=True)
class ChainState:
    """A node at a moment."""

    phase: SimulationPhase = SimulationPhase.STARTING
    height: int = 0
    """The latest block that it stored."""
    executed: int = 0
    """The latest block that its application executed."""


@dataclass(frozen=True, slots=True)
class StepInputs:
    """What a step depends on."""

    peers: tuple[int, ...] = ()
    """Heights of siblings that were heard."""
    waited: bool = False
    """Whether siblings had their time to be heard."""
    plan: UpgradePlan | None = None
    knows: frozenset[str] = frozenset()
    """Upgrades that this version can do."""
    halt_height: int = 0
    faults: Faults = Faults()


def step(state: ChainState, given: StepInputs) -> ChainState:
    """A node one block later."""
    if state.phase in (SimulationPhase.HALTED, SimulationPhase.ENDED) or given.faults.frozen:
        return state
    highest = max(given.peers, default=0)
    if state.phase is SimulationPhase.STARTING:
        if not (given.peers or given.waited):
            return state
        state = replace(state, phase=SimulationPhase.SYNCING)
    if state.phase is SimulationPhase.SYNCING and highest > state.height + 1:
        return _to(state, min(highest, state.height + SYNC_BLOCKS), given)
    target = max(state.height + 1, highest) - given.faults.lag
    return _to(replace(state, phase=SimulationPhase.RUNNING), max(target, state.height), given)


def _to(state: ChainState, height: int, given: StepInputs) -> ChainState:
    """A node at a height, or where it stops before."""
    plan, halt = given.plan, given.halt_height
    stops = plan is not None and plan.name not in given.knows and state.executed < plan.height
    if plan is not None and stops and height >= plan.height:
        return ChainState(SimulationPhase.HALTED, plan.height, plan.height - 1)
    if 0 < halt <= height:
        last = max(halt, state.height)
        return ChainState(SimulationPhase.ENDED, last, last)
    return replace(state, height=height, executed=height)
