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
from quintant.core.markers import date_time, list_map
from quintant.core.object import Custom, Model
from quintant.core.resource import Column, resource
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
    "Age": ".metadata.creationTimestamp",
}


class DevicePlacement(Model):
    """Where the deviceShifu of a device should run; each of these can be an annotation instead."""

    node_name: str = ""
    pin_policy: str = ""
    location: str = ""
    zone: str = ""
    region: str = ""
    node_selector: Mapping[str, str] = {}
    reschedule: str = ""
    memory_request: str = ""
    priority: int | None = None
    autonomy: str = ""
    exclusive: bool | None = None


class DeviceInstruction(Model):
    """What can be asked of a device, as a ConfigMap of instructions has it."""

    protocol_property_list: Mapping[str, str] = {}
    description: str = ""
    read_write: str = ""


class DeviceShifuSpec(Model):
    """What a deviceShifu is made from, beside the ConfigMap of instructions."""

    image: str = ""
    """A program in the place of our agent: then any protocol and address will do."""
    instructions: Mapping[str, DeviceInstruction] = {}
    """Instructions for those who write no ConfigMap."""


class EdgeDeviceSpec(Model):
    """What the device is, how it is reached, and where its deviceShifu should be."""

    sku: str = ""
    connection: str = ""
    address: str = ""
    protocol: str = ""
    protocol_settings: ProtocolSettings | None = None
    gateway_settings: GatewaySettings | None = None
    custom_metadata: Mapping[str, str] = {}
    description: str = ""
    connection_info: str = ""
    placement: DevicePlacement | None = None
    device_shifu: DeviceShifuSpec | None = None


class PlacementStatus(Model):
    """Where a deviceShifu is, and why."""

    node_name: str = ""
    kind: str = ""
    reason: str = ""
    distance_meters: int | None = None
    since: Annotated[str, date_time()] | None = None
    previous_node: str = ""
    moves: int | None = None


class DeviceShifuStatus(Model):
    """The objects of a deviceShifu, and where it answers."""

    deployment: str = ""
    service: str = ""
    config_map: str = ""
    url: str = ""
    managed: bool | None = None
    mode: str = ""


class DeviceTelemetryStatus(Model):
    """When the agent last heard of the device; written on transitions only."""

    last_success: Annotated[str, date_time()] | None = None
    last_failure: Annotated[str, date_time()] | None = None
    last_error: str = ""


class EdgeDeviceStatus(Model):
    """How the device is, and where its deviceShifu runs."""

    phase: str = msgspec.field(default="", name="edgedevicephase")
    observed_generation: int | None = None
    spec_hash: str = ""
    placement: PlacementStatus | None = None
    device_shifu: DeviceShifuStatus | None = None
    telemetry: DeviceTelemetryStatus | None = None
    busy: bool | None = None
    """Whether a command is under way that a move would cut short."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(group=GROUP, version=VERSION, status=True, short=["ed"], columns=COLUMNS)
class EdgeDevice(Custom[EdgeDeviceSpec, EdgeDeviceStatus]):
    """A device at the edge of the cluster."""


@resource(group=GROUP, version=VERSION, kind="EdgeDevice", short=["ed"], columns=COLUMNS)
class UpstreamEdgeDevice(Custom[EdgeDeviceSpec, EdgeDeviceStatus]):
    """The same without a status subresource: for sites that keep upstream's agents."""
