"""shifu on the console: devices, nodes, and who is where. Pure."""

from __future__ import annotations

import shlex
from urllib.parse import quote

from quintant.operators.shifu.api.device import FAILED, PENDING, RUNNING, EdgeDevice
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.api.telemetry import TelemetryService
from quintant.operators.shifu.rules.hints import resolve_hints
from quintant.runtime.observe.system_panel import (
    NO_STATUS,
    LinkState,
    MapDevice,
    MapNode,
    ObjectState,
    PanelKind,
    PanelMap,
    PanelPlot,
    PanelRow,
    SystemPanel,
    columns,
    judge_conditions,
    text_of,
)

PHASES: dict[str, ObjectState] = {
    RUNNING: "well", PENDING: "working", FAILED: "broken", "Unknown": "unknown",
}  # fmt: skip
NODE_PHASES: dict[str, ObjectState] = {
    "Ready": "well", "Recovering": "working", "Suspect": "broken", "Lost": "broken",
}  # fmt: skip
NODE_SENTENCES = {
    "Suspect": "its kubelet is late with its report",
    "Lost": "its kubelet reports no more: its devices go to other nodes",
    "Recovering": "it reports again, and gets devices when it has done so for a while",
}
"""For a phase of which no condition says more."""
MOST_INSTRUCTIONS = 50


def device_row(device: EdgeDevice) -> PanelRow:
    """A device at the edge."""
    spec, status = device.spec, device.status
    if status is None:
        return PanelRow("unknown", NO_STATUS, (spec.sku, spec.protocol, "", "", ""))
    state, sentence = judge_device(device)
    placement = status.placement
    node = placement.node_name if placement is not None else ""
    moves = (placement.moves or 0) if placement is not None else 0
    cells = (spec.sku, spec.protocol, node, status.phase, text_of(moves))
    figures = {"shifu-moves": float(moves), "shifu-devices": float(state == "well")}
    return PanelRow(state, sentence, cells, figures=figures)


def judge_device(device: EdgeDevice) -> tuple[ObjectState, str]:
    """How a device is: by its conditions, unless its phase is worse."""
    status = device.status
    if status is None:
        return "unknown", NO_STATUS
    judged, sentence = judge_conditions(status.conditions)
    by_phase = PHASES.get(status.phase, "unknown")
    if judged == "well" and by_phase != "well":
        return by_phase, f"its phase is {status.phase}, while its conditions say: {sentence}"
    if judged == "unknown":
        return by_phase, sentence
    # Pending is not broken while it is on its way.
    return ("working" if judged == "broken" and by_phase == "working" else judged), sentence


def node_row(node: EdgeNode) -> PanelRow:
    """A node that deviceShifus can run on."""
    status = node.status
    if status is None:
        return PanelRow("unknown", NO_STATUS, ("", "", ""))
    state = NODE_PHASES.get(status.phase, "unknown")
    counts = status.device_shifus
    site = status.location.site if status.location is not None else ""
    bound = text_of(counts.bound) if counts is not None else ""
    sentence = judge_conditions(status.conditions)[1]
    if sentence in (NO_STATUS, "", status.phase):
        sentence = NODE_SENTENCES.get(status.phase, sentence)
    return PanelRow(state, sentence, (status.phase, bound, site))


def telemetry_row(service: TelemetryService) -> PanelRow:
    """A place that telemetry is sent to."""
    status = service.status
    if status is None:
        return PanelRow("unknown", NO_STATUS, ("",))
    return PanelRow(*judge_conditions(status.conditions), (status.phase,))


def map_device(device: EdgeDevice) -> MapDevice:
    """A device on the edgeMap, and why it is there."""
    spec, status = device.spec, device.status
    placement = status.placement if status is not None else None
    shifu = status.device_shifu if status is not None else None
    location = resolve_hints(device).location
    names = shifu.instructions[:MOST_INSTRUCTIONS] if shifu is not None else ()
    url, word = shifu.url if shifu is not None else "", quote(names[0] if names else "INSTRUCTION")
    return MapDevice(
        node=placement.node_name if placement is not None else "",
        phase=status.phase if status is not None else "",
        protocol=spec.protocol,
        sku=spec.sku,
        link_state=_link_state(device),
        kind=placement.kind if placement is not None else "",
        reason=placement.reason if placement is not None else "",
        distance=placement.distance_meters if placement is not None else None,
        previous_node=placement.previous_node if placement is not None else "",
        moves=(placement.moves or 0) if placement is not None else 0,
        cause=placement.reason if placement is not None else "",
        instructions=names,
        curl=f"curl {shlex.quote(f'{url}/{word}')}" if url else "",
        latitude=location.latitude if location is not None else None,
        longitude=location.longitude if location is not None else None,
    )


def map_node(node: EdgeNode) -> MapNode:
    """A node on the edgeMap."""
    row, status = node_row(node), node.status
    location = (status.location if status is not None else None) or node.spec.location
    return MapNode(
        node.spec.node_name or node.metadata.name,
        row.state,
        row.sentence,
        location.latitude if location is not None else None,
        location.longitude if location is not None else None,
    )


def _link_state(device: EdgeDevice) -> LinkState:
    status = device.status
    if status is None or status.placement is None or not status.placement.node_name:
        return ""
    if status.device_shifu is not None and status.device_shifu.managed is False:
        return "adopted"
    return "attached" if status.phase == RUNNING else "pending"


PANEL = SystemPanel(
    "shifu",
    "devices at the edge",
    (
        PanelKind(EdgeDevice, columns("SKU", "Protocol", "Node", "Phase", "#Moves"), device_row),
        PanelKind(EdgeNode, columns("Phase", "#Devices", "Site"), node_row),
        PanelKind(TelemetryService, columns("Phase"), telemetry_row),
    ),
    (
        PanelPlot("shifu-devices", "Devices that answer"),
        PanelPlot("shifu-moves", "Moves of devices"),
    ),
    PanelMap(EdgeDevice, map_device, EdgeNode, map_node),
)
