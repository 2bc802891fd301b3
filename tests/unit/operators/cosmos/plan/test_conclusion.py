"""What a person must mend is not retried, and all else is looked at again in time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from quintant.core.errors import Cause, ServerError, Status, Terminal
from quintant.core.object import replace as replaced
from quintant.operators.cosmos.api.status import UpgradeInfo
from quintant.operators.cosmos.observed.outcome import FullNodeOutcome, PodOutcome
from quintant.operators.cosmos.plan.conclusion import (
    HUMAN_SECONDS,
    P2P_SECONDS,
    SETTLED_SECONDS,
    SOON_SECONDS,
    conclude,
)
from quintant.runtime.reconcile.result import Result
from quintant.runtime.reconcile.steps import FailedStep
from unit.operators.cosmos.observations import observed

TRANSIENT = FailedStep("pods", ServerError(Status(code=500, message="down")))
TERMINAL = FailedStep("claims", Terminal("taken", reason="NameTaken"))


@pytest.mark.parametrize(
    ("outcome", "seconds", "phase"),
    [
        ({}, SETTLED_SECONDS, "Complete"),
        ({"pods": PodOutcome(progressing=True)}, SOON_SECONDS, "Progressing"),
        ({"upgrade_waits": True}, SOON_SECONDS, "Progressing"),
        ({"pending": ("hub-p2p-0",)}, P2P_SECONDS, "WaitingForP2PServices"),
        ({"failures": (TRANSIENT,)}, SOON_SECONDS, "TransientError"),
        ({"failures": (TRANSIENT, TERMINAL)}, HUMAN_SECONDS, "Error"),
    ],
)
def test_when_to_look_again_follows_from_the_phase(
    outcome: dict[str, Any], seconds: float, phase: str
) -> None:
    status = {"height": {"hub-0": 101}}
    conclusion = conclude(observed("+", status=status), FullNodeOutcome(**outcome))
    assert conclusion.again == Result(after=seconds)
    assert conclusion.status is not None
    assert conclusion.status.phase == phase


def test_the_queue_retries_only_what_may_pass_by_itself() -> None:
    seen = observed("+")
    assert conclude(seen, FullNodeOutcome(failures=(TRANSIENT,))).error is TRANSIENT.error
    assert conclude(seen, FullNodeOutcome(failures=(TRANSIENT, TERMINAL))).error is None
    wrong = replace(seen, errors=(Cause("spec", "no"),))
    assert conclude(wrong, FullNodeOutcome()).error is None


def test_a_failure_is_reported_with_its_step() -> None:
    conclusion = conclude(observed("+"), FullNodeOutcome(failures=(TRANSIENT,)))
    assert conclusion.status is not None
    assert conclusion.status.status == "transient, tried again: pods: down"
    assert "ErrorTransient" in [each.reason for each in conclusion.events]


def test_the_change_of_the_newest_status_keeps_what_others_wrote() -> None:
    conclusion = conclude(observed("+"), FullNodeOutcome())
    assert conclusion.change is not None
    assert conclusion.status is not None
    upgrade = UpgradeInfo(name="v2", height=9)
    upgraded = replaced(conclusion.status, planned_upgrade=upgrade)
    assert conclusion.change(upgraded).planned_upgrade == upgrade
