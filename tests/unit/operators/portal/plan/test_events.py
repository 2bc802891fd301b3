"""Users are told of transitions, once each, in the words of the contract."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.events import PlannedEvent
from quintant.core.errors import Cause
from quintant.operators.portal.api import PortalExposeStatus
from quintant.operators.portal.observed import Observed, OperationResult, Outcome
from quintant.operators.portal.plan import events
from quintant.operators.portal.plan.events import outcome_event, status_events
from quintant.operators.portal.plan.status import status_of
from unit.operators.portal.observations import exposing, observed, pod, report

UNCHANGED = Outcome(OperationResult.UNCHANGED)
WELL = status_of(observed(), UNCHANGED)
SILENT: dict[str, Any] = {"pods": (pod("p", False),), "reports": {}}


def words(event: PlannedEvent) -> tuple[str, str, str]:
    return event.type, event.reason, event.note


def after(seen: Observed, outcome: Outcome = UNCHANGED) -> list[tuple[str, str, str]]:
    """What is said once the status was written that follows."""
    return [words(each) for each in status_events(seen, outcome, status_of(seen, outcome))]


def test_the_eight_events_of_the_contract_have_its_words() -> None:
    fresh, well = exposing(), exposing(WELL)
    degraded = observed(expose=well, reports={"p": report("a", down="b")})
    first = observed(expose=fresh, existing=None, **SILENT)
    named = observed(expose=well, service=None)
    assert after(first, Outcome(OperationResult.CREATED)) == [
        ("Normal", "Created", "PortalExpose created, deploying tunnel pods")
    ]
    pending = PortalExposeStatus(phase="Pending", conditions=WELL.conditions)
    assert after(observed(expose=exposing(pending))) == [
        ("Normal", "Ready", "All tunnel pods and relays are healthy")
    ]
    told = ("Warning", "Degraded", "Partial failure: 2/2 pods ready, 1/2 relays connected")
    assert told in after(degraded)
    assert after(named, Outcome()) == [
        ("Warning", "ServiceNotFound", "Referenced Service 'web' not found")
    ]
    unclassed = after(observed(expose=well, tunnel_class=None), Outcome())
    assert [each[:2] for each in unclassed] == [("Warning", "TunnelClassNotFound")]
    assert ("Warning", "Failed", "All tunnel pods or relays unavailable") in after(
        observed(expose=well, **SILENT)
    )
    assert words(events.UPDATED) == (
        "Normal", "Updated", "Configuration updated, rolling update in progress",
    )  # fmt: skip
    assert outcome_event(observed(), Outcome(OperationResult.UPDATED)) == events.UPDATED
    assert words(events.DELETED) == (
        "Normal", "Deleted", "PortalExpose deleted, tunnel pods cleaned up",
    )  # fmt: skip


def test_pods_that_come_one_after_the_other_are_no_failure() -> None:
    pending = exposing(PortalExposeStatus(phase="Pending", conditions=WELL.conditions))
    half: dict[str, Any] = {"pods": (pod("p"), pod("q", False)), "reports": {"p": report("a", "b")}}
    begun = observed(expose=pending, **half)
    assert status_of(begun, UNCHANGED).phase == "Degraded"
    assert "Degraded" not in {reason for _, reason, _ in after(begun)}
    lost = observed(expose=exposing(WELL), **half)
    assert "Degraded" in {reason for _, reason, _ in after(lost)}


def test_a_relay_that_stays_away_is_told_when_all_pods_are_there() -> None:
    pending = exposing(PortalExposeStatus(phase="Pending", conditions=WELL.conditions))
    away = {"p": report("a", down="b"), "q": report("a", down="b")}
    begun = observed(expose=pending, pods=(pod("p"), pod("q", False)), reports=away)
    known = exposing(status_of(begun, UNCHANGED))
    there = observed(expose=known, pods=(pod("p"), pod("q")), reports=away)
    told = ("Warning", "Degraded", "Partial failure: 2/2 pods ready, 1/2 relays connected")
    assert told in after(there)


def test_nothing_is_said_when_nothing_changes() -> None:
    for seen in (
        observed(),
        observed(service=None),
        observed(**SILENT),
        observed(tunnel_class=None),
    ):
        outcome = Outcome() if seen.blocked else UNCHANGED
        known = status_of(seen, outcome)
        again = Observed(
            exposing(known), seen.service, seen.tunnel_class, seen.existing, seen.pods,
            seen.reports, now=seen.now,
        )  # fmt: skip
        assert after(again, outcome) == []


def test_second_deployment_is_made_again_and_not_created() -> None:
    gone = observed(expose=exposing(WELL), existing=None, **SILENT)
    assert outcome_event(gone, Outcome(OperationResult.CREATED)) == events.RECREATED
    assert events.CREATED not in list(
        status_events(
            gone,
            Outcome(OperationResult.CREATED),
            status_of(gone, Outcome(OperationResult.CREATED)),
        )
    )
    assert outcome_event(observed(), Outcome(OperationResult.CREATED)) is None


def test_creation_that_was_not_told_because_of_a_crash_is_told_later() -> None:
    assert ("Normal", "Created", "PortalExpose created, deploying tunnel pods") in after(observed())


def test_return_to_pending_is_told_and_the_first_pending_is_not() -> None:
    failed = PortalExposeStatus(phase="Failed", conditions=WELL.conditions)
    back = observed(expose=exposing(failed), existing=None, **SILENT)
    assert events.PENDING in [
        *status_events(
            back,
            Outcome(OperationResult.CREATED),
            status_of(back, Outcome(OperationResult.CREATED)),
        )
    ]


@pytest.mark.parametrize(
    ("changes", "outcome", "reason"),
    [
        ({"errors": (Cause("x", "bad", "spec"),)}, Outcome(), "InvalidSpec"),
        ({}, Outcome(OperationResult.CONFLICT, "taken"), "DeploymentConflict"),
        ({}, Outcome(OperationResult.REFUSED, "quota"), "DeploymentCreateFailed"),
    ],
)
def test_what_blocks_it_is_told_in_place_of_failed(
    changes: dict[str, Any], outcome: Outcome, reason: str
) -> None:
    said = after(observed(expose=exposing(WELL), **changes), outcome)
    assert [each[1] for each in said] == [reason]


def test_flips_of_relays_are_told_with_their_error() -> None:
    lost = observed(expose=exposing(WELL), reports={"p": report("a", down="b")})
    assert ("Warning", "RelayDisconnected", "Relay 'b' was lost: refused") in after(lost)
    found = observed(expose=exposing(status_of(lost, UNCHANGED)))
    assert ("Normal", "RelayConnected", "Relay 'b' is connected") in after(found)
