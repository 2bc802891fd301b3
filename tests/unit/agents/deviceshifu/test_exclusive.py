"""Who may speak to a device that only one may speak to."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quintant.agents.deviceshifu.device import DeviceSpec, DeviceState
from quintant.agents.deviceshifu.exclusive import look_seconds, withheld

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SPEC = DeviceSpec("Socket", "h:1", exclusive=True)


def state(node: str, previous: str = "", since: str = "2026-05-01T11:59:50Z") -> DeviceState:
    return DeviceState(SPEC, node=node, previous=previous, since=since)


def test_a_device_that_is_elsewhere_is_not_ours() -> None:
    assert withheld(state("n2"), "n1", 45, NOW) == "it is placed on n2"


def test_a_device_that_never_moved_is_ours_at_once() -> None:
    assert withheld(state("n1"), "n1", 45, NOW) == ""
    assert withheld(state(""), "n1", 45, NOW) == ""


def test_after_a_move_the_agent_before_has_its_time() -> None:
    assert "n2 may still" in withheld(state("n1", "n2"), "n1", 45, NOW)
    assert withheld(state("n1", "n2", "2026-05-01T11:59:00Z"), "n1", 45, NOW) == ""


@pytest.mark.parametrize("since", ["", "x", "2026-05-01", "9" * 400])
def test_a_moment_that_is_none_holds_nothing_up(since: str) -> None:
    assert withheld(state("n1", "n2", since), "n1", 45, NOW) == ""


def test_a_device_that_is_not_exclusive_is_served_by_all() -> None:
    shared = DeviceState(DeviceSpec("Socket", "h:1"), node="n2")
    assert withheld(shared, "n1", 45, NOW) == ""


def test_the_device_is_looked_at_several_times_before_it_is_let_go() -> None:
    assert look_seconds(45) == 5.0
    assert look_seconds(0.75) == 0.15
