"""The DaemonSet controller: one pod on every node that the template fits.

placement which nodes those are, and what a pod for one of them looks like
plan      which pods are made and deleted next
status    counts
reconcile reads, decides by these, writes
"""

from __future__ import annotations

from collections.abc import Iterable

from quintant.api.apps import ControllerRevision, DaemonSet
from quintant.cluster.controllers.daemonset.reconcile import DaemonSetReconciler
from quintant.cluster.controllers.namespaces.terminating import unless_terminating
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.cluster.controllers.pods.views import PodState
from quintant.cluster.controllers.ref_manager import (
    ORPHANS,
    SELECTORS,
    adopters_of,
    orphan_index,
    selector_index,
)
from quintant.core.object import Object
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager

NAME = "daemonset-controller"
ALL = "all"
"""The index that holds every DaemonSet: any of them may want a pod on a node."""


def declare(manager: Manager) -> None:
    """Add the controller to a manager."""
    reconciler = DaemonSetReconciler()
    (
        manager.controls(DaemonSet, name=NAME)
        .index(SELECTORS, selector_index)
        .index(ALL, _all)
        .owns(PodState, index={ORPHANS: orphan_index})
        .owns(ControllerRevision, index={ORPHANS: orphan_index})
        .watches(PodState, to=by_index(SELECTORS, adopters_of))
        .watches(NodeState, to=by_index(ALL, _all), when=_matters)
        .on_deleted(reconciler.backoff.forget)
        .reconcile(unless_terminating(reconciler))
    )


def _all(obj: Object) -> Iterable[str]:
    return (ALL,)


def _matters(old: NodeState | None, new: NodeState | None) -> bool:
    """Whether a node may be meant now that was not before, or the other way round."""
    if old is None or new is None:
        return True
    return (old.metadata.labels, old.spec.taints) != (new.metadata.labels, new.spec.taints)
