"""EdgeNode: how every edge node is, said in its status, when it is worth a write."""

from __future__ import annotations

from quintant.core.object import Request
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.edge_node.reconcile import EdgeNodeReconciler
from quintant.operators.shifu.topology.nodes import node_name
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source import predicates
from quintant.runtime.source.channel import Channel


def controllers(manager: Manager, topology: Topology, nodes: Channel) -> None:
    """Declare the controller of EdgeNodes' statuses."""
    (
        manager.keyed("shifu-edge-nodes")
        .watches(EdgeNode, to=lambda edge: (Request(node_name(edge)),), when=predicates.generation)
        .uses(EdgeNode, "patch", sub="status")
        .on(nodes)
        .reconcile(EdgeNodeReconciler(topology))
    )
