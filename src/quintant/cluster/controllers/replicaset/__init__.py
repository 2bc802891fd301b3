"""The ReplicaSet controller: so many pods of one template, no more and no fewer."""

from __future__ import annotations

from quintant.api.apps import ReplicaSet
from quintant.cluster.controllers.namespaces.terminating import unless_terminating
from quintant.cluster.controllers.pods.views import PodState
from quintant.cluster.controllers.ref_manager import (
    ORPHANS,
    SELECTORS,
    adopters_of,
    orphan_index,
    selector_index,
)
from quintant.cluster.controllers.replicaset.reconcile import reconcile
from quintant.runtime.controller.declaration import by_index, owner_uid
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import OWNER_INDEX

NAME = "replicaset-controller"
WORKERS = 8
"""Sets worked on at once: one with many pods waits a moment between its turns."""


def declare(manager: Manager) -> None:
    """Add the controller to a manager."""
    (
        manager.controls(ReplicaSet, name=NAME)
        .index(SELECTORS, selector_index)
        .index(OWNER_INDEX, owner_uid)
        .owns(PodState, index={ORPHANS: orphan_index})
        .watches(PodState, to=by_index(SELECTORS, adopters_of))
        .workers(WORKERS)
        .reconcile(unless_terminating(reconcile))
    )
