"""What the observer reads: whether it is its turn, with which kubeconfig, and what it sees."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import NamedTuple

from quintant.core.duration import parse_duration
from quintant.core.object import Request
from quintant.core.owner import controller_of
from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.api import Cluster, ClusterStatus
from quintant.operators.infra.api.cluster import ObserverSpec
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.observed import WatchedSecret, secret_value
from quintant.operators.infra.observe.secrets import Secrets
from quintant.operators.infra.observer.plan import TargetNews, news
from quintant.operators.infra.plan.status import API_SERVER_REACHABLE, observable, reason_of
from quintant.operators.infra.remote import Targets
from quintant.runtime.cache.client import Client
from quintant.runtime.controller import predicates
from quintant.runtime.controller.follower import Unreachable


def _aspects(cluster: Cluster) -> object:
    status = cluster.status or ClusterStatus()
    reached = reason_of(status.conditions, API_SERVER_REACHABLE)
    return observable(cluster, status), status.kubeconfig_secret_ref, reached


CHANGED = predicates.generation | predicates.changed(_aspects)


class ObservedTarget(NamedTuple):
    """A made cluster, and how it is looked at."""

    kubeconfig: Sensitive[bytes]
    interval: float
    timeout: float
    threshold: int
    insecure: bool


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
        """Look, and look again, for as long as somebody wants to know."""
        known: TargetNews | None = None
        while True:
            if self.near is None:
                raise Unreachable("nobody asked yet")
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
            await asyncio.sleep(target.interval)
