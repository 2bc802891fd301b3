"""How a simulated node goes on: with its siblings, behind them, to an upgrade, and past it."""

from __future__ import annotations

from dataclasses import replace

from quintant.agents.chainsim.chain import (
    SYNC_BLOCKS,
    ChainState,
    Faults,
    SimulationPhase,
    StepInputs,
    UpgradePlan,
    step,
)

PLAN = UpgradePlan("v2", 100)
RUNNING = ChainState(SimulationPhase.RUNNING, 10, 10)


def test_a_node_waits_for_its_siblings_before_it_claims_to_be_in_sync() -> None:
    begun = ChainState()
    assert step(begun, StepInputs()) == begun
    assert step(begun, StepInputs(waited=True)) == ChainState(SimulationPhase.RUNNING, 1, 1)
    behind = step(begun, StepInputs(peers=(5000,)))
    assert behind == ChainState(SimulationPhase.SYNCING, SYNC_BLOCKS, SYNC_BLOCKS)


def test_a_node_that_is_behind_catches_up_and_then_runs_with_the_others() -> None:
    state, given = ChainState(), StepInputs(peers=(1200,))
    phases = []
    for _ in range(4):
        state = step(state, given)
        phases.append(state.phase)
    assert phases == [SimulationPhase.SYNCING] * 3 + [SimulationPhase.RUNNING]
    assert state.height == 1201


def test_siblings_at_the_same_height_stay_together() -> None:
    assert step(RUNNING, StepInputs(peers=(10, 9))).height == 11
    assert step(RUNNING, StepInputs(peers=(11,))).height == 11


def test_a_node_with_lag_stays_behind_and_never_goes_back() -> None:
    lagging = StepInputs(peers=(30,), faults=Faults(lag=5))
    assert step(RUNNING, lagging).height == 25
    assert step(RUNNING, StepInputs(faults=Faults(lag=5))).height == 10


def test_a_frozen_node_gets_no_more_blocks() -> None:
    assert step(RUNNING, StepInputs(peers=(99,), faults=Faults(frozen=True))) == RUNNING


def test_a_plan_that_it_does_not_know_halts_it_with_the_block_stored_and_not_executed() -> None:
    near = replace(RUNNING, height=99, executed=99)
    halted = step(near, StepInputs(plan=PLAN))
    assert halted == ChainState(SimulationPhase.HALTED, 100, 99)
    assert step(halted, StepInputs(plan=PLAN, peers=(500,))) == halted


def test_started_again_the_old_version_halts_again_and_the_new_one_goes_on() -> None:
    kept = ChainState(SimulationPhase.STARTING, 100, 99)
    assert step(kept, StepInputs(waited=True, plan=PLAN)).phase is SimulationPhase.HALTED
    after = step(kept, StepInputs(waited=True, plan=PLAN, knows=frozenset({"v2"})))
    assert after == ChainState(SimulationPhase.RUNNING, 101, 101)


def test_a_plan_that_was_passed_halts_nobody() -> None:
    passed = replace(RUNNING, height=150, executed=150)
    assert step(passed, StepInputs(plan=PLAN)).phase is SimulationPhase.RUNNING


def test_a_halt_height_ends_the_process() -> None:
    near = replace(RUNNING, height=49, executed=49)
    assert step(near, StepInputs(halt_height=50)) == ChainState(SimulationPhase.ENDED, 50, 50)
    assert step(near, StepInputs(halt_height=0)).phase is SimulationPhase.RUNNING
