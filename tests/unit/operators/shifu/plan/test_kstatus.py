"""What is said of a device whose agent does not speak: it is waited for only where one may."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quintant.api.meta import Condition, condition_of
from quintant.operators.shifu.api.device import REACHABLE, READY, EdgeDeviceStatus
from quintant.operators.shifu.observed.device_view import OUR_WORDS
from quintant.operators.shifu.plan.kstatus import with_verdict

NOW = datetime(2026, 1, 1, tzinfo=UTC)
UP = Condition(type=READY, status="True", reason="Available")


def judged(*conditions: Condition, phase: str = "Pending") -> tuple[str, str, bool]:
    """Status and reason of Ready, and whether it is Reconciling."""
    status = EdgeDeviceStatus(phase=phase, conditions=conditions)
    found = with_verdict(status, 1, NOW).conditions
    ready, under_way = condition_of(found, "Ready"), condition_of(found, "Reconciling")
    assert ready is not None
    return ready.status, ready.reason, under_way is not None and under_way.status == "True"


def test_an_agent_that_has_not_spoken_yet_is_waited_for() -> None:
    assert judged(UP) == ("False", "Pending", True)


@pytest.mark.parametrize("reason", OUR_WORDS)
def test_where_no_agent_will_speak_nothing_is_under_way(reason: str) -> None:
    silent = Condition(type=REACHABLE, status="Unknown", reason=reason, message="nobody asks it")
    assert judged(UP, silent) == ("Unknown", reason, False)


def test_a_device_that_does_not_answer_is_not_ready() -> None:
    away = Condition(type=REACHABLE, status="False", reason="NoAnswer")
    assert judged(UP, away, phase="Failed") == ("False", "Failed", False)
