"""edgeMap: nodes with their devices, live; who moved where, and why.

Devices and nodes are read by the functions of the operator's panel; what nodes have and what their
pods ask for comes from the nodes' board. A place on the map is in degrees, where it is known.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, NamedTuple

from quintant.console.boards.nodes import NodesBoard, judge_node
from quintant.console.boards.panels import SENTENCE_LENGTH, SystemBoard
from quintant.console.links import cut, is_simulated, object_link
from quintant.console.publisher import Publisher
from quintant.console.sources import AnyChange, Sources
from quintant.console.topics import AccessScope, Topic, TopicRow
from quintant.console.views import ConsoleObject
from quintant.core import codec
from quintant.core.clock import timestamp
from quintant.core.errors import Undecodable
from quintant.core.object import Request
from quintant.core.resource import Resource, resource_of
from quintant.runtime.observe.system_panel import MapDevice, MapNode, PanelMap

MOST_MOVES = 100
UNREADABLE = MapDevice()


class MappedDevice(NamedTuple):
    """What is kept of a device: which one, and where it is."""

    uid: str
    node: str


class EdgeMapBoard:
    """The topic of the map."""

    def __init__(
        self,
        panel: PanelMap,
        board: SystemBoard,
        nodes: NodesBoard,
        publisher: Publisher,
        sources: Sources,
    ) -> None:
        self._panel, self._board, self._nodes, self._publisher = panel, board, nodes, publisher
        self._devices_kind = resource_of(panel.device_kind)
        self._nodes_kind = resource_of(panel.node_kind)
        scope = AccessScope(self._devices_kind.group, self._devices_kind.plural)
        self.topic: Topic = publisher.add(Topic("edgemap", scope))
        self._devices: dict[Request, MappedDevice] = {}
        self._edge_nodes: dict[str, MapNode] = {}
        self._edge_names: dict[str, str] = {}
        """Names of nodes, each held once for all its devices."""
        self._counts: Counter[str] = Counter()
        self._changed: dict[Request, ConsoleObject | None] = {}
        self._changed_nodes: set[str] = set()
        self._moves: deque[dict[str, Any]] = deque(maxlen=MOST_MOVES)
        sources.subscribe(self._devices_kind, self._heard_device)
        sources.subscribe(self._nodes_kind, self._heard_node)
        nodes.follow(self._mark_node)
        publisher.mark(self)

    def text(self) -> str:
        """The map as a text: a line for every node and device, then its neighbours."""
        names = self._names()
        by_node: dict[str, list[Request]] = {name: [] for name in self._edge_nodes}
        for key, placed in sorted(self._devices.items()):
            if placed.node in by_node:
                by_node[placed.node].append(key)
        lines = [
            " --> ".join(f"[{each}]" for each in (node, *(names[key] for key in found)))
            for node, found in sorted(by_node.items())
        ]
        for key, placed in sorted(self._devices.items()):
            node = placed.node
            lines.append(f"[{names[key]}]" + (f" --> [{node}]" if node in by_node else ""))
        return "".join(f"{line}\n" for line in lines)

    def flush(self) -> None:
        self._board.flush()  # how a device is, is its panel's to say
        changed, self._changed = self._changed, {}
        nodes, self._changed_nodes = self._changed_nodes, set()
        rows: dict[str, TopicRow] = {}
        removed = [f"node/{name}" for name in nodes if name not in self._edge_nodes]
        for key in changed:
            obj = changed[key]
            if obj is None:
                removed.append(f"device/{key}")
            else:
                rows[f"device/{key}"] = self._device_row(obj)
        for name in nodes & self._edge_nodes.keys():
            rows[f"node/{name}"] = self._node_row(name)
        self.topic.publish(rows, removed, {"timeline": list(self._moves)})

    def _heard_device(self, resource: Resource, change: AnyChange) -> None:
        obj = change.new or change.old
        if obj is None:
            return
        before = self._devices.pop(obj.key, None)
        if before is not None:
            self._count(before.node, -1)
        if change.new is not None:
            device = self._read(change.new)
            name = self._edge_names.setdefault(device.node, device.node)
            self._devices[obj.key] = MappedDevice(obj.metadata.uid, name)
            self._count(device.node, 1)
            self._note_move(resource, before, change.new, device)
        self._changed[obj.key] = change.new
        self._publisher.mark(self)

    def _heard_node(self, _resource: Resource, change: AnyChange) -> None:
        obj = change.new or change.old
        if isinstance(change.new, ConsoleObject):
            try:
                found = self._panel.node(codec.decode(self._panel.node_kind, change.new.content))
            except Undecodable:
                found = MapNode(change.new.metadata.name, "unknown", "it does not fit its type")
            self._edge_nodes[change.new.metadata.name] = found
        elif obj is not None:
            self._edge_nodes.pop(obj.metadata.name, None)
        if obj is not None:
            self._mark_node(obj.metadata.name)

    def _count(self, node: str, sign: int) -> None:
        self._counts[node] += sign
        self._mark_node(node)

    def _mark_node(self, name: str) -> None:
        self._changed_nodes.add(name)
        self._publisher.mark(self)

    def _note_move(
        self,
        resource: Resource,
        before: MappedDevice | None,
        obj: ConsoleObject,
        device: MapDevice,
    ) -> None:
        meta = obj.metadata
        if before is None or before.uid != meta.uid:
            return
        if before.node == device.node or not (before.node and device.node):
            return
        self._moves.appendleft({
            "time": timestamp(self._publisher.clock.now()), "device": str(obj.key),
            "from": before.node, "to": device.node,
            "cause": cut(self._cause(before.node, device), SENTENCE_LENGTH),
            "link": object_link(resource, meta.name, meta.namespace),
        })  # fmt: skip

    def _cause(self, origin: str, device: MapDevice) -> str:
        """Why a device left a node, as far as the node tells, and why it is where it is."""
        node = self._edge_nodes.get(origin)
        if node is None:
            return f"{origin} is gone; {device.cause}"
        return (
            f"{origin}: {node.sentence}; {device.cause}" if node.state == "broken" else device.cause
        )

    def _read(self, obj: ConsoleObject) -> MapDevice:
        try:
            return self._panel.device(codec.decode(self._panel.device_kind, obj.content))
        except Undecodable:
            return UNREADABLE

    def _device_row(self, obj: ConsoleObject) -> TopicRow:
        device = self._read(obj)
        meta, judged = obj.metadata, self._board.objects.get(obj.metadata.uid)
        fields = {
            "type": "device", "uid": meta.uid, "namespace": meta.namespace, "name": meta.name,
            "node": device.node, "phase": cut(device.phase, 200),
            "state": judged.state if judged is not None else "unknown",
            "sentence": judged.sentence if judged is not None else "",
            "protocol": cut(device.protocol, 200), "sku": cut(device.sku, 200),
            "labels": dict(list(meta.labels.items())[:20]),
            "link_state": device.link_state, "reason": cut(device.reason, SENTENCE_LENGTH),
            "kind": device.kind, "distance": device.distance,
            "previous_node": device.previous_node, "instructions": device.instructions,
            "curl": device.curl, "x": device.longitude, "y": device.latitude,
            "link": object_link(self._devices_kind, meta.name, meta.namespace),
        }  # fmt: skip
        resource = self._devices_kind
        return TopicRow(fields, AccessScope(resource.group, resource.plural, meta.namespace))

    def _node_row(self, name: str) -> TopicRow:
        edge, node = self._edge_nodes[name], self._nodes.nodes.get(name)
        state, sentence = edge.state, edge.sentence
        amounts: dict[str, Any] = {
            "memory": {"capacity": None, "requested": None},
            "cpu": {"capacity": None, "requested": None},
        }
        if node is not None:
            amounts = self._nodes.amounts(node)
            if state == "well" and judge_node(node)[0] == "broken":
                state, sentence = judge_node(node)
        fields = {
            "type": "node", "name": name, "state": state,
            "sentence": cut(sentence, SENTENCE_LENGTH),
            "simulated": node is not None and is_simulated(node.metadata), **amounts,
            "devices": self._counts[name], "x": edge.longitude, "y": edge.latitude,
            "distance": None,
        }  # fmt: skip
        return TopicRow(fields, AccessScope(self._nodes_kind.group, self._nodes_kind.plural))

    def _names(self) -> dict[Request, str]:
        """What each device is called: with its namespace only where that is needed."""
        count = Counter([*self._edge_nodes, *(key.name for key in self._devices)])
        return {key: key.name if count[key.name] == 1 else str(key) for key in self._devices}
