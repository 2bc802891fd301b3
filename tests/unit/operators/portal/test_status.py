"""The status says what is so: phase, counts, relays, and a condition for every aspect."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quintant.api.core import Service, ServicePort, ServiceSpec
from quintant.api.meta import Condition, condition_of
from quintant.api.pod import ContainerState, ContainerStatus, Waiting
from quintant.core.clock import timestamp
from quintant.core.errors import Cause
from quintant.core.object import replace
from quintant.operators.portal.api import PortalExposeStatus, TunnelPods
from quintant.operators.portal.deed import Deed, Outcome
from quintant.operators.portal.status import judged
from quintant.operators.portal.world import World
from unit.operators.portal.worlds import NOW, deployed, exposing, overdue, pod, report, world

LEFT = Deed(Outcome.LEFT)


def said(status: PortalExposeStatus, type: str) -> tuple[str, str, str]:
    found = condition_of(status.conditions, type)
    assert found is not None
    assert found.observed_generation == 3
    return found.status, found.reason, found.message


def test_everything_well_is_ready_with_every_condition() -> None:
    status = judged(world(), LEFT)
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
    first = judged(world(), LEFT)
    later = judged(world(expose=exposing(first), now=NOW + timedelta(hours=1)), LEFT)
    assert later == first


def test_transition_time_moves_only_when_a_condition_flips() -> None:
    first = judged(world(), LEFT)
    later = NOW + timedelta(minutes=1)
    lost = judged(
        world(expose=exposing(first), reports={"p": report("a", down="b")}, now=later), LEFT
    )
    moved = {
        each.type for each in lost.conditions if each.last_transition_time != "2026-01-01T00:00:00Z"
    }
    assert moved == {"RelayConnected"}


def test_missing_service_fails_it_and_tells_the_rest_truthfully() -> None:
    status = judged(world(service=None), Deed())
    assert status.phase == "Failed"
    assert said(status, "ServiceExists") == (
        "False", "ServiceNotFound", "Service 'web' not found in namespace 'store'",
    )  # fmt: skip
    assert said(status, "Available")[:2] == ("False", "ServiceNotFound")
    assert status.tunnel_pods == TunnelPods(ready=2, total=2)


def test_missing_class_fails_it_and_keeps_the_count_of_its_tunnels() -> None:
    status = judged(world(tunnel_class=None), Deed())
    assert status.phase == "Failed"
    assert said(status, "Available")[:2] == ("False", "NoDefaultTunnelClass")
    assert status.tunnel_pods == TunnelPods(ready=2, total=2)


def test_wrong_spec_is_told_with_every_field() -> None:
    causes = (Cause("x", "bad name", "spec.app.name"), Cause("x", "bad port", "spec.port"))
    status = judged(world(complaints=causes), Deed())
    assert status.phase == "Failed"
    assert said(status, "Available") == (
        "False", "InvalidSpec", "spec.app.name: bad name; spec.port: bad port",
    )  # fmt: skip


def test_missing_port_is_told_apart_and_its_coming_too() -> None:
    other = Service(spec=ServiceSpec(ports=(ServicePort(port=81),)))
    status = judged(world(service=other), LEFT)
    assert status.phase == "Ready"
    assert said(status, "ServicePortExists")[:2] == ("False", "ServicePortNotFound")
    after = judged(world(expose=exposing(status)), LEFT)
    assert said(after, "ServicePortExists")[:2] == ("True", "ServicePortFound")
    assert condition_of(judged(world(), LEFT).conditions, "ServicePortExists") is None


@pytest.mark.parametrize(
    "service",
    [Service(spec=ServiceSpec(type="ExternalName", ports=(ServicePort(port=1),))), Service()],
    ids=["external name", "no ports"],
)
def test_ports_that_cannot_be_known_are_not_missed(service: Service) -> None:
    assert (
        condition_of(judged(world(service=service), LEFT).conditions, "ServicePortExists") is None
    )


def waiting() -> Any:
    state = ContainerState(waiting=Waiting(reason="ImagePullBackOff", message="no such image"))
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
    status = judged(world(pods=(found,), reports={}), LEFT)
    assert said(status, "TunnelDeploymentReady") == ("False", "PodsNotReady", message)
    assert status.phase == "Pending"


def before(phase: Any) -> Any:
    return exposing(PortalExposeStatus(phase=phase, observed_generation=3))


SILENT: dict[str, Any] = {"pods": (pod("p", False),), "reports": {}}


@pytest.mark.parametrize(
    ("changes", "deed", "phase"),
    [
        ({"expose": before("Ready"), **SILENT}, LEFT, "Failed"),
        ({"expose": before("Failed"), **SILENT}, LEFT, "Failed"),
        ({"expose": before("Ready"), **SILENT}, Deed(Outcome.CREATED), "Pending"),
        ({"expose": before("Ready"), **SILENT}, Deed(Outcome.REFUSED), "Pending"),
        ({"expose": before("Degraded")}, Deed(Outcome.REFUSED, first=False), "Degraded"),
        ({"expose": before("Pending"), **SILENT, "deployment": overdue()}, LEFT, "Failed"),
        ({"expose": before("Ready"), **SILENT}, Deed(Outcome.CONFLICT), "Failed"),
        ({"expose": before(None), **SILENT}, Deed(Outcome.WAITING), "Pending"),
    ],
)
def test_phase_follows_from_what_was_and_what_is(
    changes: dict[str, Any], deed: Deed, phase: str
) -> None:
    assert judged(world(**changes), deed).phase == phase


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Deed(Outcome.CONFLICT, "taken"), "DeploymentConflict"),
        (Deed(Outcome.REFUSED, "quota"), "DeploymentCreateFailed"),
        (Deed(Outcome.REFUSED, "quota", first=False), "DeploymentUpdateFailed"),
        (Deed(Outcome.WAITING, "going"), "DeploymentTerminating"),
    ],
)
def test_what_became_of_the_deployment_is_told(outcome: Deed, reason: str) -> None:
    status = judged(world(), outcome)
    assert said(status, "TunnelDeploymentReady") == ("False", reason, outcome.said)


@pytest.mark.parametrize(
    ("deployment", "deed", "reason"),
    [
        (None, Deed(Outcome.CREATED), "DeploymentCreated"),
        (deployed(), Deed(Outcome.UPDATED), "DeploymentUpdating"),
        (deployed(updated_replicas=1), LEFT, "RollingUpdate"),
        (deployed(observed_generation=-1), LEFT, "RollingUpdate"),
        (deployed(replicas=2, updated_replicas=2) , LEFT, "DeploymentStable"),
        (overdue(), LEFT, "ProgressDeadlineExceeded"),
    ],
)  # fmt: skip
def test_progress_is_told(deployment: Any, deed: Deed, reason: str) -> None:
    assert said(judged(world(deployment=deployment), deed), "Progressing")[1] == reason


@pytest.mark.parametrize(
    ("reports", "status", "reason"),
    [
        ({}, "Unknown", "NotReported"),
        ({"p": report(down="a")}, "False", "NoRelayConnected"),
        ({"p": report("a", down="b")}, "False", "PartialRelayConnection"),
    ],
)
def test_relays_are_told_as_tunnels_tell_of_them(reports: Any, status: str, reason: str) -> None:
    assert said(judged(world(reports=reports), LEFT), "RelayConnected")[:2] == (status, reason)


def test_errors_of_relays_are_in_the_message() -> None:
    found = said(judged(world(reports={"p": report("a", down="b")}), LEFT), "RelayConnected")
    assert found[2] == "Only 1/2 relays connected: b: refused"


def test_assumed_connections_say_that_they_are_assumed() -> None:
    status = judged(world(reports={}, assume=True), LEFT)
    assert said(status, "RelayConnected")[:2] == ("True", "Assumed")
    assert status.phase == "Ready"


def test_service_that_tunnels_cannot_reach_is_told_and_no_phase() -> None:
    status = judged(world(reports={"p": report("a", "b", error="refused")}), LEFT)
    assert status.phase == "Ready"
    assert said(status, "Available")[2] == "Tunnel up, but the Service fails: refused"


def test_relay_without_a_name_gives_no_url_and_says_so() -> None:
    given = exposing(None, "a")
    target = given.spec.relay.targets[0]
    spec = replace(
        given.spec,
        relay=replace(given.spec.relay, targets=(replace(target, url="wss://10.0.0.1"),)),
    )
    status = judged(world(expose=replace(given, spec=spec), reports={}), LEFT)
    assert status.public_url == ""
    assert "IP address" in said(status, "Available")[2]


def test_readiness_is_the_deployments_word_where_no_pods_are_seen() -> None:
    seen: World = world(pods=(), reports={}, assume=True)
    assert judged(seen, LEFT).phase == "Ready"


def test_more_ready_pods_than_wanted_are_not_counted() -> None:
    status = judged(world(pods=(pod("p"), pod("q"), pod("r"))), LEFT)
    assert status.tunnel_pods == TunnelPods(ready=2, total=2)


@pytest.mark.parametrize(("age", "phase"), [(1, "Pending"), (3, "Degraded")])
def test_silence_of_a_ready_tunnel_is_degraded_after_three_seconds(age: int, phase: str) -> None:
    since = timestamp(NOW - timedelta(seconds=age))
    fresh = replace(pod("p").status.conditions[0], last_transition_time=since)
    found = replace(pod("p"), status=replace(pod("p").status, conditions=(fresh,)))
    assert judged(world(pods=(found,), reports={}), LEFT).phase == phase
