"""What there should be, and when it is looked at again, follow from what was seen and done."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quintant.core.errors import Cause
from quintant.operators.portal.builders import Tunnels
from quintant.operators.portal.options import Options
from quintant.operators.portal.plan import Plan, children, plan
from quintant.operators.portal.plan.outcome import OperationResult, Outcome
from unit.operators.portal.observations import NOW, exposing, observed, pod, report

TUNNELS = Tunnels("quintant")
UNCHANGED = Outcome(OperationResult.UNCHANGED)
LOST: dict[str, Any] = {"reports": {"p": report("a", down="b"), "q": report("a", down="b")}}


def after(decided: Plan) -> float | None:
    return decided.again.seconds if decided.again is not None else None


def test_there_should_be_one_deployment() -> None:
    (made,) = children(observed(), TUNNELS)
    assert made.metadata.name == "shop-tunnel"


@pytest.mark.parametrize(
    "changes",
    [{"service": None}, {"tunnel_class": None}, {"errors": (Cause("x", "bad", "spec"),)}],
    ids=str,
)
def test_nothing_is_asked_for_while_something_is_missing(changes: dict[str, Any]) -> None:
    assert children(observed(**changes), TUNNELS) == ()


@pytest.mark.parametrize(
    ("changes", "result", "seconds"),
    [
        ({}, OperationResult.UNCHANGED, None),
        ({}, OperationResult.CREATED, 1.0),
        ({}, OperationResult.UPDATED, 1.0),
        ({}, OperationResult.CORRECTED, 1.0),
        ({}, OperationResult.WAITING, 2.0),
        ({}, OperationResult.CONFLICT, None),
        ({"service": None}, OperationResult.NONE, None),
        ({"pods": (pod("p"), pod("q", False))}, OperationResult.UNCHANGED, 30.0),
        ({"expected": True}, OperationResult.UNCHANGED, 3.1),
        (LOST, OperationResult.UNCHANGED, 5.0),
    ],
    ids=str,
)
def test_it_is_looked_at_again_as_the_contract_has_it(
    changes: dict[str, Any], result: OperationResult, seconds: float | None
) -> None:
    assert after(plan(observed(**changes), Outcome(result), Options())) == seconds


def test_pods_are_looked_at_as_often_as_the_options_say() -> None:
    unready = observed(pods=(pod("p"), pod("q", False)))
    assert after(plan(unready, UNCHANGED, Options(status_check_interval=7.0))) == 7.0


@pytest.mark.parametrize(
    ("passed", "seconds"), [(1, 5.0), (5, 5.0), (10, 10.0), (200, 200.0), (900, 300.0)]
)
def test_lost_relay_is_looked_at_ever_more_rarely(passed: int, seconds: float) -> None:
    first = plan(observed(**LOST), UNCHANGED, Options())
    later = observed(expose=exposing(first.status), now=NOW + timedelta(seconds=passed), **LOST)
    assert after(plan(later, UNCHANGED, Options())) == seconds


def test_unchanged_world_leads_to_the_same_status_and_no_events() -> None:
    first = plan(observed(), UNCHANGED, Options())
    again = plan(observed(expose=exposing(first.status)), UNCHANGED, Options())
    assert (again.status, again.events) == (first.status, ())
