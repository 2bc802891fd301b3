"""What is held of a device: what decisions are made from, and a digest of its status.

The status of a device is long, and most of it is what we wrote ourselves; whether that is still so
is known by a number. It is written over the whole object, which is read for that.
"""

from __future__ import annotations

import msgspec

from quintant.api.meta import Condition
from quintant.core.object import Custom, ObjectMeta, replace
from quintant.core.resource import projection
from quintant.operators.shifu.api.device import (
    REACHABLE,
    EdgeDevice,
    EdgeDeviceSpec,
    EdgeDeviceStatus,
    PlacementStatus,
    UpstreamEdgeDevice,
)
from quintant.operators.shifu.observed.interned import NOTHING, shared, shared_condition
from quintant.operators.shifu.observed.view_meta import view_meta

FOREIGN, NO_AGENT, SIMULATED = "ForeignAgent", "NoAgent", "Simulated"
OUR_WORDS = (FOREIGN, NO_AGENT, SIMULATED)
"""Reasons of DeviceReachable that are ours: where no agent has a word."""


def digest_status(status: EdgeDeviceStatus | None) -> int:
    """A number for what we write of a device; what its agent writes is no part of it."""
    if status is None:
        return 0
    ours = tuple(
        each for each in status.conditions if each.type != REACHABLE or each.reason in OUR_WORDS
    )
    written = replace(status, telemetry=None, busy=None, conditions=ours)
    return hash(msgspec.json.encode(written)) or 1


def _meta(full: ObjectMeta) -> ObjectMeta:
    return replace(
        view_meta(full),
        creation_timestamp=shared(full.creation_timestamp or "") or None,
        annotations=full.annotations or NOTHING,
    )


def _spec(full: EdgeDeviceSpec) -> EdgeDeviceSpec:
    return replace(
        full,
        sku=shared(full.sku),
        connection=shared(full.connection),
        protocol=shared(full.protocol),
        custom_metadata=full.custom_metadata or NOTHING,
        description="",
        connection_info="",
    )


def _status(full: EdgeDeviceStatus) -> EdgeDeviceStatus:
    return EdgeDeviceStatus(
        phase=shared(full.phase),
        placement=_placement(full.placement) if full.placement is not None else None,
        busy=full.busy,
        unreported_moves=full.unreported_moves,
        conditions=tuple(_condition(each) for each in full.conditions),
    )


def _placement(full: PlacementStatus) -> PlacementStatus:
    return replace(
        full,
        node_name=shared(full.node_name),
        kind=shared(full.kind),
        reason=shared(full.reason),
        previous_node=shared(full.previous_node),
    )


def _condition(full: Condition) -> Condition:
    return shared_condition(
        replace(
            full,
            type=shared(full.type),
            status=shared(full.status),
            reason=shared(full.reason),
            message=shared(full.message),
            last_transition_time=shared(full.last_transition_time or "") or None,
        )
    )


def _view(full: EdgeDevice) -> ShifuDevice:
    status = _status(full.status) if full.status is not None else None
    digest = digest_status(full.status)
    return ShifuDevice(
        metadata=_meta(full.metadata), spec=_spec(full.spec), status=status, status_digest=digest
    )


def _upstream_view(full: UpstreamEdgeDevice) -> UpstreamShifuDevice:
    status = _status(full.status) if full.status is not None else None
    digest = digest_status(full.status)
    return UpstreamShifuDevice(
        metadata=_meta(full.metadata), spec=_spec(full.spec), status=status, status_digest=digest
    )


@projection(of=EdgeDevice, wire=EdgeDevice, transform=_view)
class ShifuDevice(Custom[EdgeDeviceSpec, EdgeDeviceStatus]):
    """A device without the status that we wrote of it, of which `status_digest` is a digest."""

    status_digest: int = 0


@projection(of=UpstreamEdgeDevice, wire=UpstreamEdgeDevice, transform=_upstream_view)
class UpstreamShifuDevice(Custom[EdgeDeviceSpec, EdgeDeviceStatus]):
    """The same where a device has no status subresource."""

    status_digest: int = 0


DeviceView = ShifuDevice | UpstreamShifuDevice
