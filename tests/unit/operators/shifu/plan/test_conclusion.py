"""What follows when a pass over a device is done: the agent's words stay, others wait to leave."""

from __future__ import annotations

from datetime import UTC, datetime

from quintant.api.meta import Condition, condition_of
from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.device import (
    REACHABLE,
    SCHEDULED,
    EdgeDeviceSpec,
    EdgeDeviceStatus,
)
from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.observed.device_view import ShifuDevice
from quintant.operators.shifu.observed.placement import PlacementDecision, PlacementRequest
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.plan.conclusion import LATER, conclude, merge_status
from quintant.operators.shifu.plan.device import EVACUATED, PLACED, Choice
from quintant.operators.shifu.rules.hints import resolve_hints

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DECISION = PlacementDecision("n2", "Memory", "the most")


def observed(status: EdgeDeviceStatus | None = None) -> Observed:
    device = ShifuDevice(
        metadata=ObjectMeta(name="a", namespace="devices", uid="u"),
        spec=EdgeDeviceSpec(protocol="HTTP", address="b:1"),
        status=status,
    )
    return Observed(device, resolve_hints(device), PlacementRequest(0), NOW)


def test_a_device_that_was_placed_says_so_in_status_and_event() -> None:
    concluded = conclude(observed(), Choice("n2", DECISION, PLACED), Options())
    assert concluded.change is not None
    status = concluded.change(None)
    scheduled = condition_of(status.conditions, SCHEDULED)
    assert scheduled is not None
    assert (status.phase, scheduled.status, scheduled.reason) == ("Pending", "True", "Memory")
    assert [(each.reason, each.note) for each in concluded.events] == [
        ("Scheduled", "on n2: the most")
    ]


def test_the_status_of_one_that_leaves_a_lost_node_is_written_in_a_later_pass() -> None:
    choice = Choice("n2", DECISION, EVACUATED, previous="n1")
    concluded = conclude(observed(), choice, Options())
    assert (concluded.status, concluded.change, concluded.again) == (None, None, LATER)
    assert concluded.events == ()


def test_what_the_agent_wrote_meanwhile_stays() -> None:
    ours = EdgeDeviceStatus(phase="Pending", spec_hash="new")
    agent = Condition(type=REACHABLE, status="False", reason="DoesNotAnswer")
    newest = EdgeDeviceStatus(phase="Failed", spec_hash="old", busy=True, conditions=(agent,))
    merged = merge_status(ours, newest)
    assert (merged.phase, merged.spec_hash, merged.busy) == ("Failed", "new", True)
    assert merged.conditions == (agent,)


def test_a_device_of_a_lost_node_is_unknown_whatever_its_agent_wrote_last() -> None:
    ours, newest = EdgeDeviceStatus(phase="Unknown"), EdgeDeviceStatus(phase="Running")
    assert merge_status(ours, newest, silenced=True).phase == "Unknown"


def test_an_agent_that_spoke_afterwards_has_the_last_word() -> None:
    ours, newest = EdgeDeviceStatus(phase="Unknown"), EdgeDeviceStatus(phase="Running")
    assert merge_status(ours, newest).phase == "Running"
