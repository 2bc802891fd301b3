"""infra: whole Kubernetes clusters, made, changed, healed and deleted on clouds. See README.md."""

from __future__ import annotations

import os

from quintant.api.core import Secret
from quintant.core.options import from_environment
from quintant.operators.infra import cloud, observer, provider, scheduler
from quintant.operators.infra.act.perform import Performer
from quintant.operators.infra.alerts import ALERTS
from quintant.operators.infra.api import (
    FINALIZER,
    LEGACY_FINALIZER,
    WATCH_LABEL,
    Cloud,
    Cluster,
    GlobalCloud,
    InfrastructureClaim,
)
from quintant.operators.infra.cleanup import cleanup_by, held, left_behind
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.keys import (
    CHANGED,
    CLAIMED_INDEX,
    CLOUD_INDEX,
    HOLDER_INDEX,
    ID_INDEX,
    claimed_id,
    cloud_aspects,
    cloud_keys,
    holder_uid,
    infrastructure_id,
    nobody,
)
from quintant.operators.infra.observe.reader import ClusterReader
from quintant.operators.infra.observe.secrets import Secrets
from quintant.operators.infra.observe.session import Resolver
from quintant.operators.infra.observed.cluster import WatchedSecret
from quintant.operators.infra.observed.session import cloud_key
from quintant.operators.infra.observer.observe import cluster_of
from quintant.operators.infra.options import Options
from quintant.operators.infra.reconcile import InfrastructureReconciler
from quintant.operators.infra.remote import Remote
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source.long_calls import LongCalls
from quintant.runtime.source.predicates import changed


def controllers(
    manager: Manager, options: Options | None = None, remote: Remote | None = None
) -> None:
    """Declare everything that infra does; `remote` is how providers and clusters are reached."""
    options = options or from_environment(Options, os.environ)
    metrics, secrets = InfraMetrics(), Secrets()
    manager.operator(options, metrics=metrics, alerts=ALERTS)
    remote = (remote or _connected(manager, metrics)).guarded(manager.remote_calls)
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
    bound_clusters = by_index(CLOUD_INDEX, lambda obj: (cloud_key(obj),))
    (
        manager.controls(Cluster, name="infrastructure", when=CHANGED, shared=True)
        .index(CLOUD_INDEX, cloud_keys)
        .index(ID_INDEX, infrastructure_id)
        .index(observer.SECRET_INDEX, observer.secret_key)
        .watches(Cloud, to=bound_clusters, when=changed(cloud_aspects), shared=True)
        .watches(GlobalCloud, to=bound_clusters, when=changed(cloud_aspects), shared=True)
        .watches(WatchedSecret, to=cluster_of, labels={WATCH_LABEL: "true"})
        .watches(
            WatchedSecret,
            to=by_index(observer.SECRET_INDEX),
            labels={WATCH_LABEL: "true"},
            shared=True,
        )
        .watches(
            InfrastructureClaim,
            to=nobody,
            index={CLAIMED_INDEX: claimed_id, HOLDER_INDEX: holder_uid},
        )
        .uses(InfrastructureClaim, "create", "patch", "delete")
        .uses(Secret, "get", "create", "patch", "delete")
        .on(calls)
        .keeps(reader.memories)
        .workers(options.max_concurrent_reconciles)
        .finalize(
            FINALIZER, cleanup_by(reconcile), when=held, also=[LEGACY_FINALIZER], leaves=left_behind
        )
        .reconcile(reconcile)
    )


def _connected(manager: Manager, metrics: InfraMetrics) -> Remote:
    # Loaded by programs that speak it: reading the declarations needs no HTTP.
    from quintant.operators.infra.remote.connections import connected

    remote, connections = connected(metrics)
    manager.add(connections.hold)
    return remote
