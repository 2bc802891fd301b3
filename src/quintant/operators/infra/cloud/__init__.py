"""Clouds and GlobalClouds: whether Clusters can be made there, who holds them, what they hold."""

from __future__ import annotations

from quintant.api.core import Secret
from quintant.operators.infra.api import (
    IN_USE,
    WATCH_LABEL,
    AnyCloud,
    Cloud,
    Cluster,
    GlobalCloud,
    GlobalInfrastructureProvider,
    InfrastructureProvider,
)
from quintant.operators.infra.cloud.observe import CloudReader
from quintant.operators.infra.cloud.plan import in_use, left_behind
from quintant.operators.infra.cloud.reconcile import CloudReconciler
from quintant.operators.infra.observe.keys import (
    CLOUD_INDEX,
    cloud_keys,
    cloud_requests,
    cloud_secrets,
    provider_aspects,
    provider_key,
    provider_keys,
)
from quintant.operators.infra.observe.session import Resolver
from quintant.operators.infra.observed.cluster import WatchedSecret
from quintant.operators.infra.options import Options
from quintant.operators.infra.remote import Providers
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source.predicates import changed, generation

PROVIDER_INDEX = "provider"
SECRET_INDEX = "secret"


def controllers(
    manager: Manager, options: Options, resolver: Resolver, providers: Providers
) -> None:
    """Declare the controllers of both kinds."""
    reconcile = CloudReconciler(options, CloudReader(resolver, providers))
    _declare(manager, Cloud, "cloud", reconcile)
    _declare(manager, GlobalCloud, "global-cloud", reconcile)


def _declare(manager: Manager, kind: type[AnyCloud], name: str, reconcile: CloudReconciler) -> None:
    clouds = by_index(PROVIDER_INDEX, lambda provider: (provider_key(provider),))
    (
        manager.controls(kind, name=name, when=generation)
        .index(PROVIDER_INDEX, provider_keys)
        .index(SECRET_INDEX, cloud_secrets)
        .watches(
            Cluster,
            to=cloud_requests(kind.__name__),
            when=changed(cloud_keys),
            index={CLOUD_INDEX: cloud_keys},
        )
        .watches(InfrastructureProvider, to=clouds, when=changed(provider_aspects))
        .watches(GlobalInfrastructureProvider, to=clouds, when=changed(provider_aspects))
        .watches(WatchedSecret, to=by_index(SECRET_INDEX), labels={WATCH_LABEL: "true"})
        .uses(Secret, "get", "patch")
        .single()
        .keeps(reconcile.due)
        .finalize(IN_USE, reconcile.cleanup, when=in_use, leaves=left_behind)
        .reconcile(reconcile)
    )
