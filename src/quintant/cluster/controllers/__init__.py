"""The controllers of the embedded cluster: what kube-controller-manager is to a real one.

Each module has one controller, or a few that belong together, written with quintant.runtime like
any operator, and a function `declare(manager)` that adds them to a manager.
"""

from __future__ import annotations

from collections.abc import Callable

from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.cluster.controllers import (
    certificates,
    cronjob,
    daemonset,
    deployment,
    disruption,
    garbage,
    inert,
    job,
    load_balancers,
    nodes,
    podautoscaler,
    replicaset,
    statefulset,
)
from quintant.cluster.controllers.endpoints import endpoints, endpointslices, mirroring
from quintant.cluster.controllers.job import ttl
from quintant.cluster.controllers.namespaces import defaults as namespace_defaults
from quintant.cluster.controllers.namespaces import deletion as namespace_deletion
from quintant.cluster.controllers.pods import gc as pod_gc
from quintant.cluster.controllers.volumes import claims, protection, volumes
from quintant.keys.authority import Authority
from quintant.runtime.manager.manager import Manager

NAME = "kube-controller-manager"

DECLARATIONS: tuple[Callable[[Manager], None], ...] = (
    certificates.declare,
    claims.declare,
    cronjob.declare,
    daemonset.declare,
    deployment.declare,
    disruption.declare,
    endpoints.declare,
    endpointslices.declare,
    garbage.declare,
    inert.declare,
    job.declare,
    load_balancers.declare,
    mirroring.declare,
    namespace_defaults.declare,
    namespace_deletion.declare,
    pod_gc.declare,
    podautoscaler.declare,
    protection.declare,
    replicaset.declare,
    statefulset.declare,
    ttl.declare,
    volumes.declare,
)
"""The `declare` of every module that needs no setting, in alphabetical order."""


def controllers(
    authority: Authority | None = None, times: HeartbeatTimes = HeartbeatTimes()
) -> Manager:
    """All controllers of a cluster, to be run by one process.

    `authority` is what pods are to trust, and signs what was approved; without one neither is so.
    `times` says how long nodes may be silent.
    """
    manager = Manager(NAME)
    for declare in DECLARATIONS:
        declare(manager)
    nodes.declare(manager, times)
    if authority is not None:
        namespace_defaults.publishing(authority.certificate)(manager)
        certificates.signing(authority)(manager)
    return manager
