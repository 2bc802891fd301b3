"""InfrastructureProviders and global ones: whether they answer, and accept us."""

from __future__ import annotations

from quintant.operators.infra.api import (
    IN_USE,
    WATCH_LABEL,
    AnyProvider,
    Cloud,
    GlobalCloud,
    GlobalInfrastructureProvider,
    InfrastructureProvider,
)
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.keys import (
    provider_keys,
    provider_of,
    provider_requests,
    provider_secrets,
)
from quintant.operators.infra.observe.session import Resolver
from quintant.operators.infra.observed.cluster import WatchedSecret
from quintant.operators.infra.options import Options
from quintant.operators.infra.provider.observe import CLOUDS_INDEX, ProviderReader
from quintant.operators.infra.provider.plan import in_use
from quintant.operators.infra.provider.reconcile import ProviderReconciler
from quintant.operators.infra.remote import Providers
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source.predicates import changed, generation

SECRET_INDEX = "secret"


def controllers(
    manager: Manager,
    options: Options,
    resolver: Resolver,
    providers: Providers,
    metrics: InfraMetrics,
) -> None:
    """Declare the controllers of both kinds."""
    reconcile = ProviderReconciler(options, ProviderReader(resolver, providers), metrics)
    _declare(manager, InfrastructureProvider, "provider", reconcile)
    _declare(manager, GlobalInfrastructureProvider, "global-provider", reconcile)


def _declare(
    manager: Manager, kind: type[AnyProvider], name: str, reconcile: ProviderReconciler
) -> None:
    clouds = {CLOUDS_INDEX: provider_keys}
    named = provider_requests(kind.__name__)
    (
        manager.controls(kind, name=name, when=generation, shared=True)
        .index(SECRET_INDEX, provider_secrets)
        .watches(Cloud, to=named, when=changed(provider_of), index=clouds)
        .watches(GlobalCloud, to=named, when=changed(provider_of), index=clouds)
        .watches(WatchedSecret, to=by_index(SECRET_INDEX), labels={WATCH_LABEL: "true"})
        .single()
        .keeps(reconcile.metrics)
        .finalize(IN_USE, reconcile.cleanup, when=in_use)
        .reconcile(reconcile)
    )
