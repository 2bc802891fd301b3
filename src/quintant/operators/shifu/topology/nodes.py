"""The edge nodes, by name.

A Node is an edge node if it is no control plane, unless it is the only one, and is not labelled
otherwise; or if a user wrote an EdgeNode for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from quintant.operators.shifu.api.names import CONTROL_PLANE, EDGE_NODE_LABEL, MIRRORED_LABEL
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.observed.node_view import ShifuNode
from quintant.operators.shifu.topology.node_record import EdgeNodeRecord


class EdgeNodes:
    """All edge nodes by name."""

    def __init__(self) -> None:
        self._records: dict[str, EdgeNodeRecord] = {}

    def __iter__(self) -> Iterator[EdgeNodeRecord]:
        """Those that are edge nodes."""
        return (each for each in tuple(self._records.values()) if self.counts(each))

    def find(self, name: str) -> EdgeNodeRecord | None:
        """An edge node."""
        found = self._records.get(name)
        return found if found is not None and self.counts(found) else None

    def set_node(self, name: str, node: ShifuNode | None) -> None:
        """What its Node says now; None if there is none."""
        record = self._records.setdefault(name, EdgeNodeRecord(name))
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


def node_name(edge: EdgeNode) -> str:
    """The Node that an EdgeNode stands for."""
    return edge.spec.node_name or edge.metadata.name


def eligible(node: ShifuNode) -> bool:
    """Whether a Node can be an edge node by its labels."""
    labels = node.metadata.labels
    return CONTROL_PLANE not in labels and labels.get(EDGE_NODE_LABEL) != "false"
