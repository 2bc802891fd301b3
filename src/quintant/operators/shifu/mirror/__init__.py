"""The mirror: an EdgeNode for every Node that can be one, unless a user wrote it.

A part of its own, with a role of its own: without it, Nodes are edge nodes all the same, and only
their statuses are not to be seen.
"""

from __future__ import annotations

from quintant.core.object import Object, Request
from quintant.operators.shifu.api.node import EdgeNode
from quintant.operators.shifu.mirror.reconcile import MirrorReconciler
from quintant.operators.shifu.observed.node_view import ShifuNode
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source import predicates
from quintant.runtime.source.channel import Channel


def controllers(manager: Manager, topology: Topology, nodes: Channel) -> None:
    """Declare the mirror."""
    (
        manager.part("mirror", on=topology.options.edgenode_mirror)
        .keyed("shifu-mirror")
        .watches(ShifuNode, to=_itself, when=predicates.labels)
        .watches(EdgeNode, to=_itself, when=predicates.labels)
        .uses(EdgeNode, "create", "delete")
        .on(nodes)
        .reconcile(MirrorReconciler(topology))
    )


def _itself(obj: Object) -> tuple[Request, ...]:
    return (Request(obj.metadata.name),)
