"""infra: whole Kubernetes clusters, made, changed, healed and deleted on clouds. See README.md."""

from __future__ import annotations

import os

from quintant.api.core import Secret
from quintant.core.options import from_environment
from quintant.operators.infra import cloud, observer, provider, scheduler
from quintant.operators.infra.act import Performer
from quintant.operators.infra.alerts import ALERTS
from quintant.operators.infra.api import (
    FINALIZER,
    LEGACY_FINALIZER,
    WATCH_LABEL,
    Cloud,
    Cluster,
    GlobalCloud,
)
from quintant.operators.infra.cleanup import cleanup_by, held, left_behind
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.keys import (
    CHANGED,
    CLOUD_INDEX,
    ID_INDEX,
    cloud_aspects,
    cloud_key,
    cloud_keys,
    infrastructure_id,
)
from quintant.operators.infra.observe.observed import WatchedSecret
from quintant.operators.infra.observe.reader import ClusterReader
from quintant.operators.infra.observe.secrets import Secrets
from quintant.operators.infra.observe.session import Resolver
from quintant.operators.infra.observer.observe import cluster_of
from quintant.operators.infra.options import Options
from quintant.operators.infra.reconcile import InfrastructureReconciler
from quintant.operators.infra.remote import Remote
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.controller.long_calls import LongCalls
from quintant.runtime.controller.predicates import changed
from quintant.runtime.manager.manager import Manager


def controllers(
    manager: Manager, options: Options | None = None, remote: Remote | None = None
) -> None:
    """Declare everything that infra does; `remote` is how providers and clusters are reached."""
    options = options or from_environment(Options, os.environ)
    manager.configure(**options.settings)
    metrics, secrets = InfraMetrics(), Secrets()
    manager.add_collectors(*metrics.collectors())
    manager.add_alerts(*ALERTS)
    manager.add(metrics.gauges.bind, leader=True)
    remote = remote or _connected(manager, metrics)
    resolver = Resolver(options, secrets)
    declare(manager, options, remote, resolver, metrics)
    scheduler.controllers(manager)
    observer.controllers(manager, remote.targets, secrets, metrics)
    cloud.controllers(manager, options, resolver, remote.providers)
    provider.controllers(manager, options, resolver, remote.providers, metrics)


def declare(
    manager: Manager, options: Options, remote: Remote, resolver: Resolver, metrics: InfraMetrics
) -> None:
    """Declare the infrastructure controller."""
    calls: LongCalls[None] = LongCalls()
    reader = ClusterReader(options, resolver, remote.providers, calls)
    reconcile = InfrastructureReconciler(reader, Performer(calls, metrics))
    here = by_index(CLOUD_INDEX, lambda found: (cloud_key(found),))
    (
        manager.controls(Cluster, name="infrastructure", when=CHANGED)
        .index(CLOUD_INDEX, cloud_keys)
        .index(ID_INDEX, infrastructure_id)
        .index(observer.SECRET_INDEX, observer.secret_key)
        .watches(Cloud, to=here, when=changed(cloud_aspects))
        .watches(GlobalCloud, to=here, when=changed(cloud_aspects))
        .watches(WatchedSecret, to=cluster_of, labels={WATCH_LABEL: "true"})
        .watches(WatchedSecret, to=by_index(observer.SECRET_INDEX), labels={WATCH_LABEL: "true"})
        .uses(Secret, "get", "create", "patch", "delete")
        .on(calls)
        .on_deleted(reconcile.forget)
        .workers(options.max_concurrent_reconciles)
        .finalize(
            FINALIZER, cleanup_by(reconcile), when=held, also=[LEGACY_FINALIZER], leaves=left_behind
        )
        .reconcile(reconcile)
    )


def _connected(manager: Manager, metrics: InfraMetrics) -> Remote:
    # Loaded by who speaks it: whoever only reads the declarations needs no HTTP.
    from quintant.operators.infra.remote.connections import connected

    remote, connections = connected(metrics)
    manager.add(connections.hold)
    return remote
