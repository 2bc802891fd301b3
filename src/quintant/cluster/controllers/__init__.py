"""The controllers of the embedded cluster: what kube-controller-manager is to a real one.

Each module has one controller, or a few that belong together, written with quintant.runtime like
any operator, and a function `declare(manager)` that adds them to a manager.
"""

from __future__ import annotations

from collections.abc import Callable

from quintant.cluster.controllers import (
    cronjob,
    daemonset,
    deployment,
    disruption,
    garbage,
    job,
    nodes,
    replicaset,
    statefulset,
)
from quintant.cluster.controllers import load_balancers as balancers
from quintant.cluster.controllers.endpoints import endpoints, endpointslices
from quintant.cluster.controllers.job import ttl
from quintant.cluster.controllers.namespaces import defaults as equipment
from quintant.cluster.controllers.namespaces import deletion as namespaces
from quintant.cluster.controllers.pods import gc as podgc
from quintant.cluster.controllers.volumes import claims, protection, volumes
from quintant.runtime.manager.manager import Manager

NAME = "kube-controller-manager"

DECLARATIONS: tuple[Callable[[Manager], None], ...] = (
    balancers.declare,
    claims.declare,
    cronjob.declare,
    daemonset.declare,
    deployment.declare,
    disruption.declare,
    endpoints.declare,
    endpointslices.declare,
    equipment.declare,
    garbage.declare,
    job.declare,
    namespaces.declare,
    nodes.declare,
    podgc.declare,
    protection.declare,
    replicaset.declare,
    statefulset.declare,
    ttl.declare,
    volumes.declare,
)
"""The `declare` of every module, in alphabetical order."""


def controllers(authority: bytes = b"") -> Manager:
    """All controllers of a cluster, to be run by one process.

    `authority` is the certificate (PEM) that pods are to trust; without one they are given none.
    """
    manager = Manager(NAME)
    for declare in DECLARATIONS:
        declare(manager)
    if authority:
        equipment.publishing(authority)(manager)
    return manager
