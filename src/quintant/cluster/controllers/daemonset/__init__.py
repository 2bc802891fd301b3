"""The DaemonSet controller: one pod on every node that the template fits.

placement which nodes those are, and what a pod for one of them looks like
plan      which pods are made and deleted next
status    counts
reconcile reads, decides by these, writes
"""

from __future__ import annotations

from collections.abc import Iterable

from quintant.api.apps import ControllerRevision, DaemonSet
from quintant.cluster.controllers.daemonset.reconcile import Reconciler
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.cluster.controllers.pods.views import PodState
from quintant.cluster.controllers.ref_manager import (
    ORPHANS,
    SELECTORS,
    labelled,
    orphaned,
    selecting,
)
from quintant.core.object import Object
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager

NAME = "daemonset-controller"
ALL = "all"
"""The index that holds every DaemonSet: any of them may want a pod on a node."""


def declare(manager: Manager) -> None:
    """Add the controller to a manager."""
    reconciler = Reconciler()
    (
        manager.controls(DaemonSet, name=NAME)
        .index(SELECTORS, selecting)
        .index(ALL, _all)
        .owns(PodState, index={ORPHANS: orphaned})
        .owns(ControllerRevision, index={ORPHANS: orphaned})
        .watches(PodState, to=by_index(SELECTORS, labelled))
        .watches(NodeState, to=by_index(ALL, _all), when=_matters)
        .on_deleted(reconciler.patience.forget)
        .reconcile(reconciler)
    )


def _all(obj: Object) -> Iterable[str]:
    return (ALL,)


def _matters(old: NodeState | None, new: NodeState | None) -> bool:
    """Whether a node may be meant now that was not before, or the other way round."""
    if old is None or new is None:
        return True
    return (old.metadata.labels, old.spec.taints) != (new.metadata.labels, new.spec.taints)
