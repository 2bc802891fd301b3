"""The Deployment controller: one ReplicaSet per revision, exchanged gradually or at once.

rollout   which sets there are, and the numbers a rollout keeps to
replicas  how many pods each set should have next
history   revisions: annotations, names of new sets, what is forgotten
status    counts and conditions
reconcile reads, decides by these, writes
"""

from __future__ import annotations

from quintant.api.apps import Deployment, ReplicaSet
from quintant.cluster.controllers.deployment.reconcile import reconcile
from quintant.cluster.controllers.namespaces.terminating import unless_terminating
from quintant.cluster.controllers.ref_manager import (
    ORPHANS,
    SELECTORS,
    adopters_of,
    orphan_index,
    selector_index,
)
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager

NAME = "deployment-controller"


def declare(manager: Manager) -> None:
    """Add the controller to a manager."""
    (
        manager.controls(Deployment, name=NAME)
        .index(SELECTORS, selector_index)
        .owns(ReplicaSet, index={ORPHANS: orphan_index})
        .watches(ReplicaSet, to=by_index(SELECTORS, adopters_of))
        .reconcile(unless_terminating(reconcile))
    )
