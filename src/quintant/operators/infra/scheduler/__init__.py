"""The cluster scheduler: which cloud a Cluster goes to. A binding is never changed afterwards."""

from __future__ import annotations

from quintant.operators.infra.api import Cloud, Cluster, GlobalCloud
from quintant.operators.infra.observe.keys import CLOUD_INDEX, cloud_aspects, cloud_keys
from quintant.operators.infra.scheduler.observe import (
    CHANGED,
    UNSCHEDULED_INDEX,
    affected,
    unscheduled,
)
from quintant.operators.infra.scheduler.reconcile import ClusterSchedulerReconciler
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source.predicates import changed


def controllers(manager: Manager) -> None:
    """Declare the scheduler."""
    watched, reconcile = changed(cloud_aspects), ClusterSchedulerReconciler()
    (
        manager.controls(Cluster, name="cluster-scheduler", when=CHANGED)
        .index(UNSCHEDULED_INDEX, unscheduled)
        .index(CLOUD_INDEX, cloud_keys)
        .watches(Cloud, to=by_index(UNSCHEDULED_INDEX, affected), when=watched)
        .watches(GlobalCloud, to=by_index(UNSCHEDULED_INDEX, affected), when=watched)
        # Two at once would both take the last place of a cloud.
        .single()
        .workers(1)
        .keeps(reconcile.warned)
        .reconcile(reconcile)
    )
