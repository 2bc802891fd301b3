"""The status says what is so: phase, counts, relays, and a condition for every aspect."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quintant.api.core import Service, ServicePort, ServiceSpec
from quintant.api.meta import Condition, condition_of
from quintant.api.pod import ContainerState, ContainerStateWaiting, ContainerStatus
from quintant.core.clock import timestamp
from quintant.core.errors import Cause
from quintant.core.object import replace
from quintant.operators.portal.api import PortalExposeStatus, TunnelPods
from quintant.operators.portal.observed import Observed, OperationResult, Outcome
from quintant.operators.portal.plan.status import status_of
from unit.operators.portal.observations import (
    NOW,
    deployed,
    exposing,
    observed,
    overdue,
    pod,
    report,
)

UNCHANGED = Outcome(OperationResult.UNCHANGED)


def said(status: PortalExposeStatus, type: str) -> tuple[str, str, str]:
    found = condition_of(status.conditions, type)
    assert found is not None
    assert found.observed_generation == 3
    return found.status, found.reason, found.message


def test_everything_well_is_ready_with_every_condition() -> None:
    status = status_of(observed(), UNCHANGED)
    assert status.phase == "Ready"
    assert status.public_url == "https://shop.a.example.com"
    assert status.tunnel_pods == TunnelPods(ready=2, total=2)
    assert status.tunnel_class_name == "small"
    assert said(status, "ServiceExists") == ("True", "ServiceFound", "Service exists")
    assert said(status, "TunnelClassExists")[:2] == ("True", "TunnelClassFound")
    assert said(status, "TunnelDeploymentReady") == (
        "True", "AllPodsReady", "2/2 tunnel pods ready",
    )  # fmt: skip
    assert said(status, "RelayConnected") == (
        "True", "AllRelaysConnected", "Connected to 2/2 relays",
    )  # fmt: skip
    assert said(status, "Available")[:2] == ("True", "PortalExposeAvailable")
    assert said(status, "Progressing")[:2] == ("False", "DeploymentStable")


def test_unchanged_world_gives_an_equal_status_however_late() -> None:
    first = status_of(observed(), UNCHANGED)
    later = status_of(observed(expose=exposing(first), now=NOW + timedelta(hours=1)), UNCHANGED)
    assert later == first


def test_transition_time_moves_only_when_a_condition_flips() -> None:
    first = status_of(observed(), UNCHANGED)
    later = NOW + timedelta(minutes=1)
    lost = status_of(
        observed(expose=exposing(first), reports={"p": report("a", down="b")}, now=later), UNCHANGED
    )
    moved = {
        each.type for each in lost.conditions if each.last_transition_time != "2026-01-01T00:00:00Z"
    }
    assert moved == {"RelayConnected", "Ready"}


def test_missing_service_fails_it_and_tells_the_rest_truthfully() -> None:
    status = status_of(observed(service=None), Outcome())
    assert status.phase == "Failed"
    assert said(status, "ServiceExists") == (
        "False", "ServiceNotFound", "Service 'web' not found in namespace 'store'",
    )  # fmt: skip
    assert said(status, "Available")[:2] == ("False", "ServiceNotFound")
    assert status.tunnel_pods == TunnelPods(ready=2, total=2)


def test_missing_class_fails_it_and_keeps_the_count_of_its_tunnels() -> None:
    status = status_of(observed(tunnel_class=None), Outcome())
    assert status.phase == "Failed"
    assert said(status, "Available")[:2] == ("False", "NoDefaultTunnelClass")
    assert status.tunnel_pods == TunnelPods(ready=2, total=2)


def test_wrong_spec_is_told_with_every_field() -> None:
    causes = (Cause("x", "bad name", "spec.app.name"), Cause("x", "bad port", "spec.port"))
    status = status_of(observed(errors=causes), Outcome())
    assert status.phase == "Failed"
    assert said(status, "Available") == (
        "False", "InvalidSpec", "spec.app.name: bad name; spec.port: bad port",
    )  # fmt: skip


def test_missing_port_is_told_apart_and_its_coming_too() -> None:
    other = Service(spec=ServiceSpec(ports=(ServicePort(port=81),)))
    status = status_of(observed(service=other), UNCHANGED)
    assert status.phase == "Ready"
    assert said(status, "ServicePortExists")[:2] == ("False", "ServicePortNotFound")
    after = status_of(observed(expose=exposing(status)), UNCHANGED)
    assert said(after, "ServicePortExists")[:2] == ("True", "ServicePortFound")
    assert condition_of(status_of(observed(), UNCHANGED).conditions, "ServicePortExists") is None


@pytest.mark.parametrize(
    "service",
    [Service(spec=ServiceSpec(type="ExternalName", ports=(ServicePort(port=1),))), Service()],
    ids=["external name", "no ports"],
)
def test_ports_that_cannot_be_known_are_not_missed(service: Service) -> None:
    assert (
        condition_of(
            status_of(observed(service=service), UNCHANGED).conditions, "ServicePortExists"
        )
        is None
    )


def waiting() -> Any:
    state = ContainerState(
        waiting=ContainerStateWaiting(reason="ImagePullBackOff", message="no such image")
    )
    return pod("p", False, container_statuses=(ContainerStatus(name="tunnel", state=state),))


def unscheduled() -> Any:
    said = Condition(type="PodScheduled", status="False", reason="Unschedulable", message="no node")
    return pod("p", False, conditions=(said,))


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (waiting(), "0/2 tunnel pods ready: ImagePullBackOff no such image"),
        (unscheduled(), "0/2 tunnel pods ready: Unschedulable no node"),
        (pod("p", False), "0/2 tunnel pods ready"),
    ],
)
def test_pods_that_are_not_ready_say_why(found: Any, message: str) -> None:
    status = status_of(observed(pods=(found,), reports={}), UNCHANGED)
    assert said(status, "TunnelDeploymentReady") == ("False", "PodsNotReady", message)
    assert status.phase == "Pending"


def before(phase: Any) -> Any:
    return exposing(PortalExposeStatus(phase=phase, observed_generation=3))


SILENT: dict[str, Any] = {"pods": (pod("p", False),), "reports": {}}


@pytest.mark.parametrize(
    ("changes", "outcome", "phase"),
    [
        ({"expose": before("Ready"), **SILENT}, UNCHANGED, "Failed"),
        ({"expose": before("Failed"), **SILENT}, UNCHANGED, "Failed"),
        ({"expose": before("Ready"), **SILENT}, Outcome(OperationResult.CREATED), "Pending"),
        ({"expose": before("Ready"), **SILENT}, Outcome(OperationResult.REFUSED), "Pending"),
        (
            {"expose": before("Degraded")},
            Outcome(OperationResult.REFUSED, creating=False),
            "Degraded",
        ),
        ({"expose": before("Pending"), **SILENT, "existing": overdue()}, UNCHANGED, "Failed"),
        ({"expose": before("Ready"), **SILENT}, Outcome(OperationResult.CONFLICT), "Failed"),
        ({"expose": before(None), **SILENT}, Outcome(OperationResult.WAITING), "Pending"),
    ],
)
def test_phase_follows_from_what_was_and_what_is(
    changes: dict[str, Any], outcome: Outcome, phase: str
) -> None:
    assert status_of(observed(**changes), outcome).phase == phase


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome(OperationResult.CONFLICT, "taken"), "DeploymentConflict"),
        (Outcome(OperationResult.REFUSED, "quota"), "DeploymentCreateFailed"),
        (Outcome(OperationResult.REFUSED, "quota", creating=False), "DeploymentUpdateFailed"),
        (Outcome(OperationResult.WAITING, "going"), "DeploymentTerminating"),
    ],
)
def test_what_became_of_the_deployment_is_told(outcome: Outcome, reason: str) -> None:
    status = status_of(observed(), outcome)
    assert said(status, "TunnelDeploymentReady") == ("False", reason, outcome.message)


@pytest.mark.parametrize(
    ("deployment", "outcome", "reason"),
    [
        (None, Outcome(OperationResult.CREATED), "DeploymentCreated"),
        (deployed(), Outcome(OperationResult.UPDATED), "DeploymentUpdating"),
        (deployed(updated_replicas=1), UNCHANGED, "RollingUpdate"),
        (deployed(observed_generation=-1), UNCHANGED, "RollingUpdate"),
        (deployed(replicas=2, updated_replicas=2) , UNCHANGED, "DeploymentStable"),
        (overdue(), UNCHANGED, "ProgressDeadlineExceeded"),
    ],
)  # fmt: skip
def test_progress_is_told(deployment: Any, outcome: Outcome, reason: str) -> None:
    assert said(status_of(observed(existing=deployment), outcome), "Progressing")[1] == reason


@pytest.mark.parametrize(
    ("reports", "status", "reason"),
    [
        ({}, "Unknown", "NotReported"),
        ({"p": report(down="a")}, "False", "NoRelayConnected"),
        ({"p": report("a", down="b")}, "False", "PartialRelayConnection"),
    ],
)
def test_relays_are_told_as_tunnels_tell_of_them(reports: Any, status: str, reason: str) -> None:
    assert said(status_of(observed(reports=reports), UNCHANGED), "RelayConnected")[:2] == (
        status,
        reason,
    )


@pytest.mark.parametrize("before", [None, "Pending", "Ready", "Degraded", "Failed"])
def test_nothing_is_available_through_no_relay(before: Any) -> None:
    """A pod is ready until its next probe, whatever became of its relays."""
    expose = exposing(PortalExposeStatus(phase=before, observed_generation=1))
    status = status_of(observed(expose=expose, reports={"p": report(down="a")}), UNCHANGED)
    assert said(status, "RelayConnected")[1] == "NoRelayConnected"
    assert said(status, "Available")[:2] == ("False", "PortalExposeNotAvailable")


def test_errors_of_relays_are_in_the_message() -> None:
    found = said(
        status_of(observed(reports={"p": report("a", down="b")}), UNCHANGED), "RelayConnected"
    )
    assert found[2] == "Only 1/2 relays connected: b: refused"


def test_assumed_connections_say_that_they_are_assumed() -> None:
    status = status_of(observed(reports={}, assume=True), UNCHANGED)
    assert said(status, "RelayConnected")[:2] == ("True", "Assumed")
    assert status.phase == "Ready"


def test_service_that_tunnels_cannot_reach_is_told_and_no_phase() -> None:
    status = status_of(observed(reports={"p": report("a", "b", error="refused")}), UNCHANGED)
    assert status.phase == "Ready"
    assert said(status, "Available")[2] == "Tunnel up, but the Service fails: refused"


def test_relay_without_a_name_gives_no_url_and_says_so() -> None:
    given = exposing(None, "a")
    target = given.spec.relay.targets[0]
    spec = replace(
        given.spec,
        relay=replace(given.spec.relay, targets=(replace(target, url="wss://10.0.0.1"),)),
    )
    status = status_of(observed(expose=replace(given, spec=spec), reports={}), UNCHANGED)
    assert status.public_url == ""
    assert "IP address" in said(status, "Available")[2]


def test_readiness_is_the_deployments_word_where_no_pods_are_seen() -> None:
    seen: Observed = observed(pods=(), reports={}, assume=True)
    assert status_of(seen, UNCHANGED).phase == "Ready"


def test_more_ready_pods_than_wanted_are_not_counted() -> None:
    status = status_of(observed(pods=(pod("p"), pod("q"), pod("r"))), UNCHANGED)
    assert status.tunnel_pods == TunnelPods(ready=2, total=2)


@pytest.mark.parametrize(("age", "phase"), [(1, "Pending"), (3, "Degraded")])
def test_silence_of_a_ready_tunnel_is_degraded_after_three_seconds(age: int, phase: str) -> None:
    since = timestamp(NOW - timedelta(seconds=age))
    fresh = replace(pod("p").status.conditions[0], last_transition_time=since)
    found = replace(pod("p"), status=replace(pod("p").status, conditions=(fresh,)))
    assert status_of(observed(pods=(found,), reports={}), UNCHANGED).phase == phase
