"""The controllers of ReplicaSets and ReplicationControllers: so many pods of one template."""

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
from quintant.cluster.controllers.replicaset.views import R, ReplicationController
from quintant.runtime.controller.declaration import by_index, owner_uid
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import OWNER_INDEX

NAME = "replicaset-controller"
REPLICATION = "replication-controller"
WORKERS = 8
"""Sets worked on at once: one with many pods waits a moment between its turns."""


def declare(manager: Manager) -> None:
    """Add the controllers to a manager."""
    _declare(manager, ReplicaSet, NAME)
    _declare(manager, ReplicationController, REPLICATION)


def _declare(manager: Manager, kind: type[R], name: str) -> None:
    (
        manager.controls(kind, name=name)
        .index(SELECTORS, selector_index)
        .index(OWNER_INDEX, owner_uid)
        .owns(PodState, index={ORPHANS: orphan_index})
        .watches(PodState, to=by_index(SELECTORS, adopters_of))
        .workers(WORKERS)
        .reconcile(unless_terminating(reconcile))
    )
