"""Users are told of transitions, once each, in the words of the contract."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.core.errors import Cause
from quintant.operators.portal import notices
from quintant.operators.portal.api import PortalExposeStatus
from quintant.operators.portal.deed import Deed, Outcome
from quintant.operators.portal.notices import of_deed, of_status
from quintant.operators.portal.status import judged
from quintant.operators.portal.world import World
from unit.operators.portal.worlds import exposing, pod, report, world

LEFT = Deed(Outcome.LEFT)
WELL = judged(world(), LEFT)
SILENT: dict[str, Any] = {"pods": (pod("p", False),), "reports": {}}


def after(seen: World, deed: Deed = LEFT) -> list[tuple[str, str, str]]:
    """What is said once the status was written that follows."""
    return [tuple(each[:3]) for each in of_status(seen, deed, judged(seen, deed))]  # type: ignore[misc]


def test_the_eight_events_of_the_contract_have_its_words() -> None:
    fresh, well = exposing(), exposing(WELL)
    degraded = world(expose=well, reports={"p": report("a", down="b")})
    first = world(expose=fresh, deployment=None, **SILENT)
    named = world(expose=well, service=None)
    assert after(first, Deed(Outcome.CREATED)) == [
        ("Normal", "Created", "PortalExpose created, deploying tunnel pods")
    ]
    pending = PortalExposeStatus(phase="Pending", conditions=WELL.conditions)
    assert after(world(expose=exposing(pending))) == [
        ("Normal", "Ready", "All tunnel pods and relays are healthy")
    ]
    told = ("Warning", "Degraded", "Partial failure: 2/2 pods ready, 1/2 relays connected")
    assert told in after(degraded)
    assert after(named, Deed()) == [
        ("Warning", "ServiceNotFound", "Referenced Service 'web' not found")
    ]
    unclassed = after(world(expose=well, tunnel_class=None), Deed())
    assert [each[:2] for each in unclassed] == [("Warning", "TunnelClassNotFound")]
    assert ("Warning", "Failed", "All tunnel pods or relays unavailable") in after(
        world(expose=well, **SILENT)
    )
    assert notices.UPDATED[:3] == (
        "Normal", "Updated", "Configuration updated, rolling update in progress",
    )  # fmt: skip
    assert of_deed(world(), Deed(Outcome.UPDATED)) == notices.UPDATED
    assert notices.DELETED[:3] == (
        "Normal", "Deleted", "PortalExpose deleted, tunnel pods cleaned up",
    )  # fmt: skip


def test_nothing_is_said_when_nothing_changes() -> None:
    for seen in (world(), world(service=None), world(**SILENT), world(tunnel_class=None)):
        deed = Deed() if seen.blocked else LEFT
        known = judged(seen, deed)
        again = World(
            exposing(known), seen.service, seen.tunnel_class, seen.deployment, seen.pods,
            seen.reports, now=seen.now,
        )  # fmt: skip
        assert after(again, deed) == []


def test_second_deployment_is_made_again_and_not_created() -> None:
    gone = world(expose=exposing(WELL), deployment=None, **SILENT)
    assert of_deed(gone, Deed(Outcome.CREATED)) == notices.RECREATED
    assert notices.CREATED not in list(
        of_status(gone, Deed(Outcome.CREATED), judged(gone, Deed(Outcome.CREATED)))
    )
    assert of_deed(world(), Deed(Outcome.CREATED)) is None


def test_creation_that_was_not_told_because_of_a_crash_is_told_later() -> None:
    assert ("Normal", "Created", "PortalExpose created, deploying tunnel pods") in after(world())


def test_return_to_pending_is_told_and_the_first_pending_is_not() -> None:
    failed = PortalExposeStatus(phase="Failed", conditions=WELL.conditions)
    back = world(expose=exposing(failed), deployment=None, **SILENT)
    assert notices.PENDING in [
        *of_status(back, Deed(Outcome.CREATED), judged(back, Deed(Outcome.CREATED)))
    ]


@pytest.mark.parametrize(
    ("changes", "deed", "reason"),
    [
        ({"complaints": (Cause("x", "bad", "spec"),)}, Deed(), "InvalidSpec"),
        ({}, Deed(Outcome.CONFLICT, "taken"), "DeploymentConflict"),
        ({}, Deed(Outcome.REFUSED, "quota"), "DeploymentCreateFailed"),
    ],
)
def test_what_blocks_it_is_told_in_place_of_failed(
    changes: dict[str, Any], deed: Deed, reason: str
) -> None:
    said = after(world(expose=exposing(WELL), **changes), deed)
    assert [each[1] for each in said] == [reason]


def test_flips_of_relays_are_told_with_their_error() -> None:
    lost = world(expose=exposing(WELL), reports={"p": report("a", down="b")})
    assert ("Warning", "RelayDisconnected", "Relay 'b' was lost: refused") in after(lost)
    found = world(expose=exposing(judged(lost, LEFT)))
    assert ("Normal", "RelayConnected", "Relay 'b' is connected") in after(found)
