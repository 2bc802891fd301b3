"""edgeMap as JSON: vertices with what is known of them, edges, and why a device is there."""

from __future__ import annotations

from typing import Any

from quintant.core.clock import timestamp
from quintant.core.object import Request
from quintant.operators.shifu.observed.links import EdgeLink
from quintant.operators.shifu.observed.placement import placement_request
from quintant.operators.shifu.plan.placement import candidates
from quintant.operators.shifu.rules.geo import GeoPoint
from quintant.operators.shifu.rules.hints import Device, resolve_hints
from quintant.operators.shifu.topology.edgemap import EdgeChange
from quintant.operators.shifu.topology.node_record import EdgeNodeRecord, phase_word
from quintant.operators.shifu.topology.topology import Topology

Plain = dict[str, Any]


def whole_map(topology: Topology) -> Plain:
    """The whole map, with its version."""
    edgemap = topology.edgemap
    nodes = [Request(name) for name in edgemap.nodes()]
    vertices = [vertex(topology, key) for key in (*nodes, *edgemap.devices())]
    return {
        "version": edgemap.version,
        "generatedAt": timestamp(topology.clock.now()),
        "vertices": vertices,
        "links": [link_of(key, link) for key, link in edgemap if link is not None],
    }


def vertex(topology: Topology, key: Request) -> Plain:
    """A node or a device, with what is known of it."""
    if not key.namespace:
        record = topology.nodes.find(key.name)
        return _node(key.name, record)
    return _device(key, topology.device(key))


def link_of(device: Request, link: EdgeLink) -> Plain:
    """An edge."""
    return {
        "node": link.node,
        "device": str(device),
        "type": link.type,
        "kind": link.kind,
        "since": link.since,
        "state": "running" if link.running else "pending",
    }


def change_of(topology: Topology, change: EdgeChange) -> Plain:
    """One change: the vertex as it is now, and its edge."""
    if change.gone:
        return {"version": change.version, "deleted": _id(change.vertex)}
    found: Plain = {"version": change.version, "vertex": vertex(topology, change.vertex)}
    if change.vertex.namespace:
        link = change.link
        found["link"] = link_of(change.vertex, link) if link is not None else None
    return found


def explanation(topology: Topology, key: Request) -> Plain | None:
    """Why a device is where it is, and what speaks against every other node."""
    device = topology.device(key)
    if device is None:
        return None
    hints, link = resolve_hints(device), topology.edgemap.link(key)
    want = placement_request(device, hints, topology.avoided(key))
    status = device.status
    placement = status.placement if status is not None else None
    return {
        "device": str(key),
        "node": link.node if link is not None else None,
        "kind": placement.kind if placement is not None else "",
        "reason": placement.reason if placement is not None else "",
        "wanted": {
            "memoryBytes": want.memory,
            "node": want.node,
            "strict": want.strict,
            "location": _coordinates(want.location),
            "zone": want.zone,
            "region": want.region,
            "selector": dict(want.selector),
        },
        "conditions": [
            {"type": each.type, "status": each.status, "reason": each.reason,
             "message": each.message}
            for each in (status.conditions if status is not None else ())
        ],
        "candidates": [
            {
                "node": each.node,
                "feasible": not each.refusal,
                "refusal": each.refusal,
                "availableBytes": each.available,
                "distanceMeters": None if each.distance is None else round(each.distance),
            }
            for each in candidates(topology.table, want)
        ],
    }  # fmt: skip


def _node(name: str, record: EdgeNodeRecord | None) -> Plain:
    found: Plain = {"id": _id(Request(name)), "type": "node", "name": name}
    if record is None:
        return found
    figures = record.figures if record.fresh else None
    return found | {
        "phase": phase_word(record),
        "location": _coordinates(record.location),
        "free": record.free,
        "allocatable": record.allocatable,
        "usedMemory": figures.memory if figures is not None else None,
        "usedCpuMillis": figures.cpu if figures is not None else None,
    }


def _device(key: Request, device: Device | None) -> Plain:
    found: Plain = {
        "id": _id(key), "type": "device", "name": key.name, "namespace": key.namespace,
    }  # fmt: skip
    if device is None:
        return found
    phase = device.status.phase if device.status is not None else ""
    return found | {
        "phase": phase or "Pending",
        "location": _coordinates(resolve_hints(device).location),
        "sku": device.spec.sku,
        "protocol": device.spec.protocol,
    }


def _id(key: Request) -> str:
    return f"device/{key}" if key.namespace else f"node/{key.name}"


def _coordinates(point: GeoPoint | None) -> list[float] | None:
    return None if point is None else [point.latitude, point.longitude]
