"""The edge nodes, by name.

A Node is an edge node if it is no control plane, unless it is the only one, and is not labelled
otherwise; or if a user wrote an EdgeNode for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from quintant.operators.shifu.api.names import CONTROL_PLANE, EDGE_NODE_LABEL, MIRRORED_LABEL
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.observed.node_view import ShifuNode
from quintant.operators.shifu.rules.limits import NodePhase
from quintant.operators.shifu.topology.node_record import EdgeNodeRecord


class EdgeNodes:
    """All edge nodes by name."""

    def __init__(self) -> None:
        self._records: dict[str, EdgeNodeRecord] = {}
        self._members: tuple[EdgeNodeRecord, ...] | None = None
        """Those that are edge nodes; None after something changed that decides it."""
        self._unwell: dict[str, None] = {}
        self._trouble = asyncio.Event()

    def __iter__(self) -> Iterator[EdgeNodeRecord]:
        """Those that are edge nodes."""
        if self._members is None:
            self._members = tuple(each for each in self._records.values() if self.counts(each))
        return iter(self._members)

    @property
    def unwell(self) -> tuple[str, ...]:
        """The names of edge nodes that are not ready, or were not for long enough."""
        return tuple(self._unwell)

    async def trouble(self) -> None:
        """Wait until an edge node is unwell; returns at once while one is."""
        await self._trouble.wait()

    def note_phase(self, name: str) -> None:
        """The phase of a node may have changed, or it is no edge node any more."""
        record = self.find(name)
        if record is not None and (record.state is None or record.phase is not NodePhase.READY):
            self._unwell[name] = None
            self._trouble.set()
            return
        self._unwell.pop(name, None)
        if not self._unwell:
            self._trouble.clear()

    def find(self, name: str) -> EdgeNodeRecord | None:
        """An edge node."""
        found = self._records.get(name)
        return found if found is not None and self.counts(found) else None

    def set_node(self, name: str, node: ShifuNode | None) -> None:
        """What its Node says now; None if there is none."""
        record = self._records.setdefault(name, EdgeNodeRecord(name))
        if self._members is not None and _traits(record.node) != _traits(node):
            self._members = None
        if node is None or record.node is None or record.node.metadata.uid != node.metadata.uid:
            # Another machine of that name: what was measured of the first says nothing.
            record.reading = record.figures = None
            record.state = None if node is not None else record.state
        record.node = node
        self._drop(record)

    def set_edge(self, edge: EdgeNode, *, gone: bool = False) -> str:
        """What its EdgeNode says now, or that it is gone; the name of its Node."""
        name = node_name(edge)
        record = self._records.setdefault(name, EdgeNodeRecord(name))
        record.edge = None if gone else edge
        self._members = None
        self._drop(record)
        return name

    def control_planes(self) -> list[str]:
        """The names of the nodes that are edge nodes only if there is no other."""
        found = ((name, each.node) for name, each in self._records.items())
        return [name for name, node in found if node and CONTROL_PLANE in node.metadata.labels]

    def counts(self, record: EdgeNodeRecord) -> bool:
        """Whether a node is one that deviceShifus can run on."""
        if record.edge is not None and record.edge.metadata.labels.get(MIRRORED_LABEL) != "true":
            return True
        return record.node is not None and (eligible(record.node) or self._alone(record))

    def _alone(self, record: EdgeNodeRecord) -> bool:
        """Whether it is a control plane without any workers."""
        if record.node is None or record.node.metadata.labels.get(EDGE_NODE_LABEL) == "false":
            return False
        return not any(each.node and each is not record for each in self._records.values())

    def _drop(self, record: EdgeNodeRecord) -> None:
        if record.node is None and record.edge is None:
            del self._records[record.name]


def _traits(node: ShifuNode | None) -> tuple[bool, bool] | None:
    """What of a Node decides whether it, or another one, is an edge node."""
    if node is None:
        return None
    labels = node.metadata.labels
    return CONTROL_PLANE in labels, labels.get(EDGE_NODE_LABEL) == "false"


def node_name(edge: EdgeNode) -> str:
    """The Node that an EdgeNode stands for."""
    return edge.spec.node_name or edge.metadata.name


def eligible(node: ShifuNode) -> bool:
    """Whether a Node can be an edge node by its labels."""
    labels = node.metadata.labels
    return CONTROL_PLANE not in labels and labels.get(EDGE_NODE_LABEL) != "false"
