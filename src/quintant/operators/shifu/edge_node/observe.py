"""What the topology knows of one node's devices."""

from __future__ import annotations

from collections import Counter

from quintant.operators.shifu.api.device import FAILED, RUNNING
from quintant.operators.shifu.edge_node.plan import MOST_NAMES, NodeDevices
from quintant.operators.shifu.topology.topology import Topology


def node_devices(topology: Topology, name: str) -> NodeDevices:
    """The devices of a node, and how they are."""
    keys = topology.edgemap.devices_of(name)
    phases: Counter[str] = Counter()
    for key in keys:
        device = topology.device(key)
        if device is not None and device.status is not None:
            phases[device.status.phase] += 1
    return NodeDevices(
        tuple(str(key) for key in keys[:MOST_NAMES]), len(keys), phases[RUNNING], phases[FAILED]
    )
