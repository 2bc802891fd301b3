"""Garbage collection: what is owned goes when its owners have gone.

    served_kinds  which resources there are       graph_builder  a watch on each
    graph       who owns whom                       plan        what becomes of an object
    collector   from a changed graph to a deletion

Background, foreground and orphan deletion are asked for by finalizers that the API server adds
(quintant.cluster.apiserver.handlers.delete); this controller fulfils and removes them.
"""

from __future__ import annotations

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.cluster.controllers.garbage.collector import KINDS, GarbageCollector
from quintant.cluster.controllers.served_kinds import AllKinds
from quintant.core.object import Metadata
from quintant.runtime.manager.manager import Manager

NAME = "garbage-collector-controller"
WORKERS = 20
"""Each looks at one object and mostly waits for the server, which may be far away."""


def declare(manager: Manager) -> None:
    """Add the garbage collector to a manager."""
    collector = GarbageCollector()
    (
        manager.keyed(NAME)
        .watches(Metadata[CustomResourceDefinition], to=lambda _: (KINDS,))
        .on(collector.follow)
        .uses(AllKinds, "get", "list", "watch", "patch", "delete")
        .workers(WORKERS)
        .reconcile(collector.reconcile)
    )
