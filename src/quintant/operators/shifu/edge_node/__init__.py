"""EdgeNode: how every edge node is, said in its status, when it is worth a write."""

from __future__ import annotations

from quintant.core.object import Request
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.edge_node.reconcile import NodeStatusReconciler
from quintant.operators.shifu.observe.nodes import node_name
from quintant.operators.shifu.observe.topology import Topology
from quintant.operators.shifu.observe.wakes import WakeSource
from quintant.runtime.controller import predicates
from quintant.runtime.manager.manager import Manager


def controllers(manager: Manager, topology: Topology, wakes: WakeSource) -> None:
    """Declare the controller of EdgeNodes' statuses."""
    (
        manager.keyed("shifu-edge-nodes")
        .watches(EdgeNode, to=lambda edge: (Request(node_name(edge)),), when=predicates.generation)
        .uses(EdgeNode, "patch", sub="status")
        .on(wakes)
        .reconcile(NodeStatusReconciler(topology))
    )
