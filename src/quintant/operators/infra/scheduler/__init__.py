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
from quintant.operators.infra.scheduler.reconcile import CloudScheduler
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.controller.predicates import changed
from quintant.runtime.manager.manager import Manager


def controllers(manager: Manager) -> None:
    """Declare the scheduler."""
    watched, scheduler = changed(cloud_aspects), CloudScheduler()
    (
        manager.controls(Cluster, name="cluster-scheduler", when=CHANGED)
        .index(UNSCHEDULED_INDEX, unscheduled)
        .index(CLOUD_INDEX, cloud_keys)
        .watches(Cloud, to=by_index(UNSCHEDULED_INDEX, affected), when=watched)
        .watches(GlobalCloud, to=by_index(UNSCHEDULED_INDEX, affected), when=watched)
        # Two at once would both take the last place of a cloud.
        .workers(1)
        .on_deleted(scheduler.forget)
        .reconcile(scheduler)
    )
