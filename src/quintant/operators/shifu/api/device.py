"""EdgeDevice: a device at the edge, where its deviceShifu runs, and how it is.

`spec` is upstream's, and two parts more that are optional: `placement` and `deviceShifu`. The agent
writes `edgedevicephase`, `telemetry`, `busy` and the condition DeviceReachable; the controller
writes everything else, and the phase only where no agent can: Pending at first, Unknown when the
node is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from quintant.api.meta import Condition
from quintant.api.quantity import Quantity
from quintant.core.object import Custom, Model
from quintant.core.resource import Column, resource
from quintant.core.schema.markers import date_time, list_map
from quintant.operators.shifu.api.names import GROUP, VERSION
from quintant.operators.shifu.api.settings import GatewaySettings, ProtocolSettings

PENDING, RUNNING, FAILED, UNKNOWN = "Pending", "Running", "Failed", "Unknown"
PHASES = (PENDING, RUNNING, FAILED, UNKNOWN)

SCHEDULED, READY, VALID = "Scheduled", "DeviceShifuReady", "ConfigValid"
REACHABLE = "DeviceReachable"
"""The agent's condition; the controller says Unknown where an agent says nothing."""

COLUMNS: dict[str, str | Column] = {
    "SKU": ".spec.sku",
    "Protocol": ".spec.protocol",
    "Address": Column(".spec.address", priority=1),
    "Node": ".status.placement.nodeName",
    "Phase": ".status.edgedevicephase",
    "Ready": Column(r'.status.conditions[?(@.type=="Ready")].status', priority=1),
    "Age": ".metadata.creationTimestamp",
}


class DevicePlacement(Model):
    """Where the deviceShifu of a device should run; each of these can be an annotation instead."""

    node_name: str = ""
    """The node to run on."""
    pin_policy: str = ""
    """Whether it runs there or nowhere (strict), or elsewhere if need be (preferred)."""
    location: str = ""
    """Where the device is: latitude,longitude[,altitude] in degrees."""
    zone: str = ""
    """The zone that the device is in."""
    region: str = ""
    """The region that the device is in."""
    node_selector: Mapping[str, str] = {}
    """Labels that the node must have."""
    reschedule: str = ""
    """When it may be moved: auto, on-node-loss or never."""
    memory_request: Quantity | None = None
    """How much memory its deviceShifu asks for."""
    priority: int | None = None
    """Who finds a place first when a node is lost: the higher."""
    autonomy: str = ""
    """How long it stays on a lost node, such as 10m."""
    exclusive: bool | None = None
    """Whether its agent lets go of the device when it cannot reach the API server."""


class DeviceInstruction(Model):
    """What can be asked of a device, as a ConfigMap of instructions has it."""

    protocol_property_list: Mapping[str, str] = {}
    """What the protocol needs to carry it out, such as the id of a node."""
    description: str = ""
    """What it does, in words."""
    read_write: str = ""
    """Whether it reads or writes: R, W or RW."""


class DeviceShifuSpec(Model):
    """What a deviceShifu is made from, beside the ConfigMap of instructions."""

    image: str = ""
    """A program in the place of our agent: then any protocol and address will do."""
    instructions: Mapping[str, DeviceInstruction] = {}
    """Instructions for those who write no ConfigMap."""


class EdgeDeviceSpec(Model):
    """What the device is, how it is reached, and where its deviceShifu should be."""

    sku: str = ""
    """What device it is: the maker's name for it."""
    connection: str = ""
    """How it is connected, such as Ethernet."""
    address: str = ""
    """Where it is reached, in the way of its protocol."""
    protocol: str = ""
    """What it speaks: HTTP, MQTT, OPCUA, MODBUS, Socket, TCP and others."""
    protocol_settings: ProtocolSettings | None = None
    gateway_settings: GatewaySettings | None = None
    custom_metadata: Mapping[str, str] = {}
    """Further settings, and labels of telemetry."""
    description: str = ""
    """What it is for, in words."""
    connection_info: str = ""
    """How it is reached, in words."""
    placement: DevicePlacement | None = None
    device_shifu: DeviceShifuSpec | None = None


class PlacementStatus(Model):
    """Where a deviceShifu is, and why."""

    node_name: str = ""
    """The node."""
    kind: str = ""
    """How it was chosen, in one word."""
    reason: str = ""
    """Why this node, in words."""
    distance_meters: int | None = None
    """How far it is from the device."""
    since: Annotated[str, date_time()] | None = None
    """Since when it is there."""
    previous_node: str = ""
    """Where it was before."""
    moves: int | None = None
    """How often it has moved."""


class DeviceShifuStatus(Model):
    """The objects of a deviceShifu, and where it answers."""

    deployment: str = ""
    """Its Deployment."""
    service: str = ""
    """Its Service."""
    config_map: str = ""
    """Its ConfigMap of instructions."""
    url: str = ""
    """Where it answers."""
    instructions: tuple[str, ...] = ()
    """What can be asked of it, by name; the first of many."""
    managed: bool | None = None
    """Whether the operator made it; otherwise a user did."""
    mode: str = ""
    """How it runs: standalone."""


class DeviceTelemetryStatus(Model):
    """When the agent last heard of the device; written on transitions only."""

    last_success: Annotated[str, date_time()] | None = None
    """When the device last answered after it had not."""
    last_failure: Annotated[str, date_time()] | None = None
    """When the device last failed to answer after it had."""
    last_error: str = ""
    """What went wrong then."""


class UnreportedMove(Model):
    """A move whose event the API server has not taken yet."""

    id: str = ""
    """Which move it is: its event has a name by it, so that there is one, whoever writes it."""
    reason: str = ""
    """The reason of the event."""
    message: str = ""
    """From where it went, to where, and why."""
    at: Annotated[str, date_time()] | None = None
    """When it moved."""


class EdgeDeviceStatus(Model):
    """How the device is, and where its deviceShifu runs."""

    phase: str = msgspec.field(default="", name="edgedevicephase")
    """Pending, Running, Failed or Unknown."""
    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    spec_hash: str = ""
    """The digest of the spec that was last acted on."""
    placement: PlacementStatus | None = None
    device_shifu: DeviceShifuStatus | None = None
    telemetry: DeviceTelemetryStatus | None = None
    busy: bool | None = None
    """Whether a command is under way that a move would cut short."""
    unreported_moves: tuple[UnreportedMove, ...] = ()
    """Moves that are still to be reported as events: whoever leads next does."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""


@resource(group=GROUP, version=VERSION, status=True, short=["ed"], columns=COLUMNS)
class EdgeDevice(Custom[EdgeDeviceSpec, EdgeDeviceStatus]):
    """A device at the edge of the cluster."""


@resource(group=GROUP, version=VERSION, kind="EdgeDevice", short=["ed"], columns=COLUMNS)
class UpstreamEdgeDevice(Custom[EdgeDeviceSpec, EdgeDeviceStatus]):
    """The same without a status subresource: for sites that keep upstream's agents."""
