"""The cluster observer: looks at made clusters with their own kubeconfigs, from CONNECTING on.

A conversation per Cluster runs beside the workers (a Follower); only news wakes the controller, so
hundreds of clusters at rest, or out of reach, keep no worker waiting.
"""

from __future__ import annotations

from quintant.operators.infra.api import WATCH_LABEL, Cluster
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.secrets import Secrets
from quintant.operators.infra.observed.cluster import WatchedSecret
from quintant.operators.infra.observer.observe import CHANGED, TargetReader, cluster_of
from quintant.operators.infra.observer.reconcile import ClusterObserverReconciler
from quintant.operators.infra.remote import Targets
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager

SECRET_INDEX = "kubeconfig-secret"


def controllers(
    manager: Manager, targets: Targets, secrets: Secrets, metrics: InfraMetrics
) -> None:
    """Declare the observer of Clusters."""
    reader = TargetReader(targets, secrets, metrics)
    (
        manager.controls(Cluster, name="cluster-observer", when=CHANGED)
        .index(SECRET_INDEX, secret_key)
        .watches(WatchedSecret, to=cluster_of, labels={WATCH_LABEL: "true"})
        .watches(
            WatchedSecret, to=by_index(SECRET_INDEX), labels={WATCH_LABEL: "true"}, shared=True
        )
        .on(reader.looks)
        .reconcile(ClusterObserverReconciler(reader))
    )


def secret_key(cluster: Cluster) -> tuple[str, ...]:
    """Where the index files a Cluster whose kubeconfig the user gave."""
    ref = cluster.spec.kubeconfig_secret_ref
    return (f"{cluster.metadata.namespace}/{ref.name}",) if ref is not None else ()
