"""What is wrong with a node, as its annotation says: simulated ones, and those that run processes.

kubectl annotate node sim-0001 simulated.quintant.dev/fault=dead
kubectl annotate node sim-0001 simulated.quintant.dev/fault-        # well again
"""

from __future__ import annotations

from enum import Enum

from quintant.cluster.common.labels import FAULT
from quintant.core.object import Object

FULL_SHARE = 0.97
"""The part of its memory that a node uses which is told to be full."""


class NodeFault(Enum):
    """How a node fails."""

    NONE = ""
    """It does not."""
    DEAD = "dead"
    """It is off: nothing is heard of it, and its pods start anew when it is on again."""
    PARTITIONED = "partitioned"
    """Nothing is heard of it, and it hears nothing; its pods go on meanwhile."""
    NOT_READY = "not-ready"
    """It says itself that it is not ready."""
    FULL = "full"
    """Its memory is used up."""

    @property
    def silent(self) -> bool:
        """Whether nothing is heard of the node."""
        return self in (NodeFault.DEAD, NodeFault.PARTITIONED)


_KNOWN = {fault.value: fault for fault in NodeFault}


def parse_fault(word: str) -> NodeFault:
    """The fault of that name; a word that nobody knows means none."""
    return _KNOWN.get(word, NodeFault.NONE)


def fault_of(node: Object) -> NodeFault:
    """What is wrong with a node."""
    return parse_fault(node.metadata.annotations.get(FAULT, ""))
