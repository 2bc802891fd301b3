"""One turn: what is written down first, which steps follow, when the next is due."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from quintant.core.object import ObjectMeta
from quintant.operators.klight.api.lightnetwork import LightNetwork, LightNetworkSpec
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.memory import (
    JoinMemory,
    LeaveMemory,
    Memory,
    ProbeMemory,
    Wait,
)
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Save, Warn
from quintant.operators.klight.plan.join import JoinStep
from quintant.operators.klight.plan.leave import LeaveStep
from quintant.operators.klight.plan.probe import ProbeStep
from quintant.operators.klight.plan.repair import RepairStep
from quintant.operators.klight.plan.turn import PACE_SECONDS, begin, next_look, steps
from quintant.operators.klight.rules import Complaint
from unit.operators.klight.plan.peers import KEY, NOW, moment, peer

RECORD = Membership("ns/a", "p", "p:9081", "2026", "founder")


def paused(observed: Observed) -> Observed:
    """The same network, whose user has paused it."""
    spec = LightNetworkSpec(network_id="a", paused=True)
    return replace(observed, lightnetwork=LightNetwork(metadata=ObjectMeta(name="a"), spec=spec))


def test_records_are_saved_before_any_warning() -> None:
    complaining = replace(peer("q"), complaints=(Complaint("InvalidPort", "no number"),))
    observed = Observed(KEY, (), (complaining, peer("p")))
    memory = Memory(join=JoinMemory(unsaved={"p": RECORD, "elsewhere": RECORD}))
    decision = begin(observed, memory, moment(3.0))
    assert decision.actions == (
        Save(peer("p").pod, RECORD), Warn(complaining.pod, "InvalidPort", "no number"),
    )  # fmt: skip
    assert (decision.memory.join.pods, decision.memory.join.still) == (2, 3.0)
    assert decision.memory.join.unsaved == memory.join.unsaved


def test_steps_are_to_leave_to_probe_to_join_and_to_repair() -> None:
    kinds = [type(each) for each in steps(Observed(KEY), Options(), NOW)]
    assert kinds == [LeaveStep, ProbeStep, JoinStep, RepairStep]


def test_paused_network_is_only_probed() -> None:
    assert steps(paused(Observed(KEY)), Options(), NOW) == (ProbeStep(Options()),)


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e6))
def test_next_look_is_when_the_first_is_due_and_never_at_once(
    now: float, sweep: float, due: float
) -> None:
    observed = Observed(KEY, (), (peer("p"),))
    join = JoinMemory({"p": Wait("p", 0.0, due=due)})
    memory = Memory(probe=ProbeMemory(due=sweep), join=join)
    pause = next_look(observed, memory, now)
    assert pause == max(PACE_SECONDS, min(sweep, due) - now)
    assert next_look(paused(observed), memory, now) >= pause


def test_pod_that_is_to_leave_is_looked_at_when_it_is_due() -> None:
    leaving, probe = {"p": peer("p").pod}, ProbeMemory(due=100.0)
    fresh = Memory(leave=LeaveMemory(leaving=leaving), probe=probe)
    assert next_look(Observed(KEY), fresh, 50.0) == PACE_SECONDS
    waits = {"p": Wait("p", 0.0, due=60.0)}
    tried = Memory(leave=LeaveMemory(leaving=leaving, waits=waits), probe=probe)
    assert next_look(Observed(KEY), tried, 50.0) == 10.0
