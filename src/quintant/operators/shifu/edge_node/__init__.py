"""EdgeNode: how every edge node is, said in its status; and a mirror of Nodes that have none.

The status is the core's. The mirror is a part of its own, with a role of its own: it makes an
EdgeNode for every Node that can be one, and takes it away with it; what a user wrote, it leaves
alone.
"""

from __future__ import annotations

from quintant.core.object import Object, Request
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.edge_node.reconcile import MirrorReconciler, NodeStatusReconciler
from quintant.operators.shifu.observe.nodes import node_name
from quintant.operators.shifu.observe.topology import Topology
from quintant.operators.shifu.observe.views import ShifuNode
from quintant.operators.shifu.observe.wakes import WakeSource
from quintant.runtime.controller import predicates
from quintant.runtime.manager.manager import Manager

STATUS, MIRROR = "shifu-edge-nodes", "shifu-mirror"


def controllers(manager: Manager, topology: Topology, wakes: WakeSource) -> None:
    """Declare the controller of EdgeNodes' statuses, and the mirror if it is on."""
    (
        manager.keyed(STATUS)
        .watches(EdgeNode, to=lambda edge: (Request(node_name(edge)),), when=predicates.generation)
        .uses(EdgeNode, "patch", sub="status")
        .on(wakes)
        .reconcile(NodeStatusReconciler(topology))
    )
    (
        manager.part("mirror", on=topology.options.edgenode_mirror)
        .keyed(MIRROR)
        .watches(ShifuNode, to=_itself, when=predicates.labels)
        .watches(EdgeNode, to=_itself, when=predicates.labels)
        .uses(EdgeNode, "create", "delete")
        .reconcile(MirrorReconciler(topology))
    )


def _itself(obj: Object) -> tuple[Request, ...]:
    return (Request(obj.metadata.name),)
