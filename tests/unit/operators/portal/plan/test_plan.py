"""What there should be, and when it is looked at again, follow from what was seen and done."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.meta import Condition
from quintant.core.clock import find_timestamp
from quintant.core.errors import Cause
from quintant.operators.portal.api import (
    PortalExposeStatus,
    RelayConnection,
    RelayStatus,
    TunnelPods,
)
from quintant.operators.portal.observed import OperationResult, Outcome
from quintant.operators.portal.options import Options
from quintant.operators.portal.plan import children, plan
from quintant.runtime.reconcile.conclusion import Conclusion
from unit.operators.portal.observations import NOW, exposing, observed, pod, report

UNCHANGED = Outcome(OperationResult.UNCHANGED)
LOST: dict[str, Any] = {"reports": {"p": report("a", down="b"), "q": report("a", down="b")}}


def after(decided: Conclusion[PortalExposeStatus]) -> float | None:
    return decided.again.seconds if decided.again is not None else None


def test_there_should_be_one_deployment() -> None:
    (made,) = children(observed(), Options())
    assert made.metadata.name == "shop-tunnel"


@pytest.mark.parametrize(
    "changes",
    [{"service": None}, {"tunnel_class": None}, {"errors": (Cause("x", "bad", "spec"),)}],
    ids=str,
)
def test_nothing_is_asked_for_while_something_is_missing(changes: dict[str, Any]) -> None:
    assert children(observed(**changes), Options()) == ()


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


TEXTS = st.sampled_from(
    ["", "now", "2026-01-01", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59", "x" * 5_000]
)
CONDITIONS = st.builds(
    Condition,
    type=st.sampled_from(["Available", "RelayConnected", "Deployed", "TunnelClassValid", ""]),
    status=st.sampled_from(["True", "False", "Unknown", ""]),
    reason=st.sampled_from(["InvalidSpec", "ServiceNotFound", ""]),
    message=TEXTS,
    last_transition_time=st.none() | TEXTS,
)
RELAYS = st.builds(
    RelayConnection,
    name=st.sampled_from(["a", "b", "another", ""]),
    status=st.sampled_from(["Connected", "Disconnected", "Unknown"]),
    connected_at=st.none() | TEXTS,
    last_error=TEXTS,
    ready_tunnels=st.none() | st.sampled_from([-1, 0, 2**62]),
    public_url=TEXTS,
)
STATUSES = st.builds(
    PortalExposeStatus,
    phase=st.sampled_from([None, "Pending", "Ready", "Degraded", "Failed"]),
    public_url=TEXTS,
    tunnel_pods=st.none() | st.builds(TunnelPods, ready=st.sampled_from([None, -1, 2**62])),
    relay=st.none() | st.builds(RelayStatus, connected=st.lists(RELAYS, max_size=4).map(tuple)),
    observed_generation=st.sampled_from([None, -1, 3, 2**62]),
    tunnel_class_name=TEXTS,
    conditions=st.lists(CONDITIONS, max_size=4).map(tuple),
)


@given(STATUSES)
def test_a_damaged_status_builds_nothing_else_and_is_said_anew(status: PortalExposeStatus) -> None:
    damaged, sound = observed(expose=exposing(status)), observed(expose=exposing())
    assert children(damaged, Options()) == children(sound, Options())
    told = plan(damaged, UNCHANGED, Options()).status
    fresh = plan(sound, UNCHANGED, Options()).status
    assert told is not None
    assert fresh is not None
    assert (told.phase, told.public_url) == (fresh.phase, fresh.public_url)
    assert told.tunnel_pods == fresh.tunnel_pods
    assert told.relay is not None
    moments = [each.connected_at for each in told.relay.connected if each.connected_at]
    assert all(find_timestamp(each) for each in moments)
