"""Devices, nodes and telemetry services as each phase leaves them behind."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from quintant.api.apps import Deployment, DeploymentStatus
from quintant.api.meta import Condition
from quintant.core.object import ObjectMeta, replace
from quintant.operators.shifu.api.device import (
    REACHABLE,
    EdgeDevice,
    EdgeDeviceSpec,
    EdgeDeviceStatus,
)
from quintant.operators.shifu.api.node import EdgeNode, EdgeNodeSpec, EdgeNodeStatus
from quintant.operators.shifu.api.telemetry import TelemetryService
from quintant.operators.shifu.edge_node import plan as node_plan
from quintant.operators.shifu.observed.device import Observed, SeenNode
from quintant.operators.shifu.observed.device_view import ShifuDevice
from quintant.operators.shifu.observed.outcome import NAME_TAKEN, ChildRefusal, WriteOutcome
from quintant.operators.shifu.observed.placement import (
    NoPlacement,
    PlacementDecision,
    PlacementRequest,
)
from quintant.operators.shifu.observed.views import ShifuDeployment
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.plan.conclusion import conclude
from quintant.operators.shifu.plan.device import PLACED, Choice
from quintant.operators.shifu.plan.node_phase import NodePhaseState
from quintant.operators.shifu.rules.hints import resolve_hints
from quintant.operators.shifu.rules.limits import NodePhase
from quintant.operators.shifu.telemetry_service import plan as telemetry_plan
from quintant.operators.shifu.topology.node_record import EdgeNodeRecord
from testbeds.kstatus import PhaseRecord

NOW = datetime(2026, 1, 1, tzinfo=UTC)
META = ObjectMeta(name="a", namespace="devices", uid="u", generation=3)
PLACEMENT = PlacementDecision("n1", "Memory", "the most")
HERE = Choice("n1")
UP = ShifuDeployment(metadata=ObjectMeta(name="a"), managed=True, node="n1", available=True)
DOWN = replace(UP, available=False)
LOST = SeenNode("n1", NodePhase.LOST)
SILENT = Condition(type=REACHABLE, status="False", reason="NoAnswer", message="it does not answer")


def device(
    choice: Choice = HERE,
    phase: str = "",
    outcome: WriteOutcome = WriteOutcome(),
    *,
    protocol: str = "HTTP",
    said: tuple[Condition, ...] = (),
    **seen: Any,
) -> EdgeDevice:
    """What is said of a device, of which its agent says this phase."""
    spec = EdgeDeviceSpec(protocol=protocol, address="b:1")
    status = EdgeDeviceStatus(phase=phase, conditions=said)
    view = ShifuDevice(metadata=META, spec=spec, status=status)
    observed = Observed(view, resolve_hints(view), PlacementRequest(0), NOW, **seen)
    concluded = conclude(observed, choice, Options(), outcome)
    assert concluded.change is not None
    return EdgeDevice(metadata=META, spec=spec, status=concluded.change(status))


def edge_node(phase: NodePhase) -> EdgeNode:
    """What is said of a node in a phase."""
    edge = EdgeNode(metadata=ObjectMeta(name="n1", generation=2), spec=EdgeNodeSpec())
    record = EdgeNodeRecord("n1", edge=edge, state=NodePhaseState(phase, 0.0))
    planned = node_plan.plan(record, EdgeNodeStatus(), node_plan.NodeDevices(), NOW)
    return replace(edge, status=planned.status)


def telemetry(existing: Deployment | None) -> TelemetryService:
    """What is said of a TelemetryService where there is this Deployment."""
    service = TelemetryService(metadata=META)
    decided = telemetry_plan.plan([service], existing)
    return replace(service, status=telemetry_plan.conclude(service, decided, NOW).status)


def serving(available: int) -> Deployment:
    return Deployment(
        metadata=ObjectMeta(name="telemetryservice"),
        status=DeploymentStatus(available_replicas=available),
    )


TAKEN = WriteOutcome((ChildRefusal(NAME_TAKEN, "Service a is somebody else's"),))
NOWHERE = Choice(refused=NoPlacement("NoFeasibleNode", "no node has room"))
DEVICES = (
    PhaseRecord("Pending-settling", device(Choice(settling=3.0)), "InProgress"),
    PhaseRecord("Pending-placed", device(Choice("n1", PLACEMENT, PLACED)), "InProgress"),
    PhaseRecord("Pending-starting", device(deployment=DOWN), "InProgress"),
    PhaseRecord("Pending-unheard", device(phase="Pending", deployment=UP), "InProgress"),
    PhaseRecord("Pending-no-room", device(NOWHERE), "InProgress"),
    PhaseRecord("Running", device(phase="Running", deployment=UP), "Current"),
    PhaseRecord("Running-restarting", device(phase="Running", deployment=DOWN), "InProgress"),
    PhaseRecord(
        "Failed", device(phase="Failed", deployment=UP, said=(SILENT,)), "InProgress", "Degraded"
    ),
    PhaseRecord(
        "Unknown", device(phase="Running", deployment=UP, node=LOST), "InProgress", "Degraded"
    ),
    PhaseRecord("name-taken", device(outcome=TAKEN, deployment=UP), "Failed"),
    PhaseRecord("no-protocol", device(Choice(), protocol=""), "Failed"),
)
NODES = (
    PhaseRecord("Ready", edge_node(NodePhase.READY), "Current"),
    PhaseRecord("Suspect", edge_node(NodePhase.SUSPECT), "InProgress"),
    PhaseRecord("Lost", edge_node(NodePhase.LOST), "InProgress", "Degraded"),
    PhaseRecord("Recovering", edge_node(NodePhase.RECOVERING), "Current"),
)
SERVICES = (
    PhaseRecord("Pending", telemetry(None), "InProgress"),
    PhaseRecord("Failed", telemetry(serving(0)), "InProgress"),
    PhaseRecord("Running", telemetry(serving(1)), "Current"),
)
PHASES = (*DEVICES, *NODES, *SERVICES)
