"""The StatefulSet controller: numbered pods, each with a name and claims of its own.

members   which pod has which number, and what has to happen next
identity  what a pod and its claims look like
retention whether claims outlive their pods and their set
status    counts and revisions
reconcile reads, decides by these, writes
"""

from __future__ import annotations

from quintant.api.apps import ControllerRevision, StatefulSet
from quintant.api.core import PersistentVolumeClaim
from quintant.cluster.controllers.namespaces.terminating import unless_terminating
from quintant.cluster.controllers.pods.views import PodState
from quintant.cluster.controllers.ref_manager import (
    ORPHANS,
    SELECTORS,
    adopters_of,
    orphan_index,
    selector_index,
    selectors_of,
)
from quintant.cluster.controllers.statefulset.reconcile import reconcile
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager

NAME = "statefulset-controller"


def declare(manager: Manager) -> None:
    """Add the controller to a manager."""
    (
        manager.controls(StatefulSet, name=NAME)
        .index(SELECTORS, selector_index)
        .owns(PodState, index={ORPHANS: orphan_index})
        .owns(ControllerRevision, index={ORPHANS: orphan_index})
        .watches(PodState, to=by_index(SELECTORS, adopters_of))
        .watches(PersistentVolumeClaim, to=by_index(SELECTORS, selectors_of))
        .uses(PersistentVolumeClaim, "create", "patch")
        .reconcile(unless_terminating(reconcile))
    )
