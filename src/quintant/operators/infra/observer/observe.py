"""What the observer reads: whether it is its turn, with which kubeconfig, and what it sees."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable

from quintant.core.duration import parse_duration
from quintant.core.object import Request
from quintant.core.owner import controller_of
from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.api import Cluster, ClusterStatus
from quintant.operators.infra.api.cluster import ObserverSpec
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.secrets import Secrets
from quintant.operators.infra.observed.cluster import WatchedSecret, secret_value
from quintant.operators.infra.observer.observed import ObservedTarget, TargetNews, TargetObserved
from quintant.operators.infra.observer.plan import news
from quintant.operators.infra.plan.status import API_SERVER_REACHABLE, observable, reason_of
from quintant.operators.infra.remote import Targets
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.context import Context
from quintant.runtime.source import predicates
from quintant.runtime.source.follower import Follower, Pace, Unreachable


def _aspects(cluster: Cluster) -> object:
    status = cluster.status or ClusterStatus()
    reached = reason_of(status.conditions, API_SERVER_REACHABLE)
    return observable(cluster, status), status.kubeconfig_secret_ref, reached


NAME = "cluster"
# A first look takes as long as its time-outs, and those are the user's.
PACE = Pace(patience=600.0, every=lambda target: target.interval)
CHANGED = predicates.generation | predicates.changed(_aspects)


def cluster_of(secret: WatchedSecret) -> Iterable[Request]:
    """The Cluster whose kubeconfig a Secret holds."""
    held = controller_of(secret)
    if held is not None and held.kind == "Cluster":
        yield Request(held.name, secret.metadata.namespace)


async def target_of(client: Client, cluster: Cluster, secrets: Secrets) -> ObservedTarget | None:
    """The cluster to look at; None if it is not the time, or there is no kubeconfig."""
    status = cluster.status
    if status is None or status.kubeconfig_secret_ref is None or not observable(cluster, status):
        return None
    ref = status.kubeconfig_secret_ref
    key = Request(ref.name, cluster.metadata.namespace)
    if cluster.spec.tosca is not None:
        raw = secret_value(await client.find(WatchedSecret, *key), ref.key or "value")
    else:
        raw = secret_value(await secrets.find(client, key), ref.key or "value")
    if raw is None:
        return None
    spec = cluster.spec.observer or ObserverSpec()
    return ObservedTarget(
        Sensitive(raw),
        parse_duration(spec.interval or "30s"),
        parse_duration(spec.timeout or "10s"),
        spec.failure_threshold or 3,
        spec.insecure_skip_tls_verify,
    )


class TargetWatcher:
    """Looks at made clusters, again and again; `near` is a client of our own cluster."""

    def __init__(self, targets: Targets, metrics: InfraMetrics) -> None:
        self._targets, self._metrics = targets, metrics
        self.near: Client | None = None

    async def watch(self, target: ObservedTarget, /) -> AsyncGenerator[TargetNews, None]:
        """Look, and look again, as often as the follower asks."""
        known: TargetNews | None = None
        while True:
            if self.near is None:
                raise Unreachable("no reconcile has begun yet")
            look = await self._targets(
                self.near,
                target.kubeconfig.reveal(),
                seconds=target.timeout,
                insecure=target.insecure,
            )
            if look.failure:
                self._metrics.observer_failures.inc()
            known = news(known, look, target.threshold)
            yield known


class TargetReader:
    """Observes Clusters; its looks at what was made are a source of the controller."""

    def __init__(self, targets: Targets, secrets: Secrets, metrics: InfraMetrics) -> None:
        self._secrets, self._watcher = secrets, TargetWatcher(targets, metrics)
        self.looks: Follower[ObservedTarget, TargetNews] = Follower(self._watcher.watch, pace=PACE)

    async def observe(self, ctx: Context[Cluster]) -> TargetObserved:
        """Whether a Cluster is looked at, and what the last looks showed."""
        self._watcher.near = ctx.client
        target = await target_of(ctx.client, ctx.obj, self._secrets)
        reports = self.looks.want(ctx.request, {NAME: target} if target is not None else {})
        return TargetObserved(ctx.obj, target is not None, reports.get(NAME))
