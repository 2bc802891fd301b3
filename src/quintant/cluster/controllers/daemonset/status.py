"""updateDaemonSetStatus: on how many nodes its pods are, and how they are."""

from __future__ import annotations

from quintant.api.apps import DaemonSetStatus
from quintant.cluster.controllers.daemonset.placement import ShouldRun
from quintant.cluster.controllers.daemonset.plan import DaemonSetState
from quintant.cluster.controllers.pods.views import pod_ready


def report(daemons: DaemonSetState, collisions: int | None) -> DaemonSetStatus:
    """The status: of each node that is meant, the oldest pod counts."""
    meant = [site for site in daemons.sites if site.fit is ShouldRun.RUN]
    others = [site for site in daemons.sites if site.fit is not ShouldRun.RUN]
    pods = [site.pods[0] for site in meant if site.pods]
    working = sum(map(daemons.available, pods))
    return DaemonSetStatus(
        observed_generation=daemons.daemons.metadata.generation,
        desired_number_scheduled=len(meant),
        current_number_scheduled=len(pods),
        number_misscheduled=sum(bool(site.pods) for site in others),
        number_ready=sum(map(pod_ready, pods)),
        updated_number_scheduled=len(daemons.new(pods)),
        number_available=working,
        number_unavailable=len(meant) - working,
        collision_count=collisions,
        conditions=daemons.daemons.status.conditions,
    )
