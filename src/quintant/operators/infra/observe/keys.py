"""What wakes a Cluster: indexes of what it names, and which changes matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from quintant.core.object import Request
from quintant.operators.infra.api import (
    GROUP,
    AnyCloud,
    AnyProvider,
    Cluster,
    ClusterStatus,
    InfrastructureClaim,
)
from quintant.operators.infra.plan.status import API_SERVER_REACHABLE, is_false, is_true
from quintant.runtime.source import predicates

CLOUD_INDEX = "cloud"
"""Clusters by the cloud that they are bound to, as kind/namespace/name."""
ID_INDEX = "infrastructure"
"""Clusters by the infrastructure that is theirs."""
CLAIMED_INDEX, HOLDER_INDEX = "claimed", "holder"
"""Claims by their infrastructure, and by the uid of the Cluster that has it."""


def _aspects(cluster: Cluster) -> object:
    status = cluster.status or ClusterStatus()
    return status.scheduled_to, is_false(status.conditions, API_SERVER_REACHABLE)


CHANGED = predicates.generation | predicates.annotation(f"{GROUP}/*") | predicates.changed(_aspects)


def cloud_keys(cluster: Cluster) -> Iterable[str]:
    """Where the index files a Cluster by its cloud."""
    status = cluster.status or ClusterStatus()
    to = status.running_on or status.scheduled_to
    if to is None:
        return ()
    namespace = cluster.metadata.namespace if to.kind == "Cloud" else ""
    return (f"{to.kind}/{namespace}/{to.name}",)


def infrastructure_id(cluster: Cluster) -> Iterable[str]:
    """Where the index files a Cluster by its infrastructure."""
    status = cluster.status
    return (status.cluster_id,) if status is not None and status.cluster_id else ()


def claimed_id(claim: InfrastructureClaim) -> Iterable[str]:
    """Where the index files a claim by its infrastructure."""
    return (claim.spec.infrastructure_id,)


def holder_uid(claim: InfrastructureClaim) -> Iterable[str]:
    """Where the index files a claim by the Cluster that has it."""
    return (claim.spec.holder.uid,)


def nobody(claim: InfrastructureClaim) -> Iterable[Request]:
    """Whom a claim wakes: it is the Cluster's own pass that writes it."""
    return ()


def provider_key(provider: AnyProvider) -> str:
    """How an index of clouds calls a provider."""
    global_one = not provider.metadata.namespace
    kind = "GlobalInfrastructureProvider" if global_one else "InfrastructureProvider"
    return f"{kind}/{provider.metadata.namespace}/{provider.metadata.name}"


def provider_keys(cloud: AnyCloud) -> Iterable[str]:
    """Where an index files a cloud by its provider."""
    return (provider_of(cloud),)


def provider_of(cloud: AnyCloud) -> str:
    """How an index calls the provider of a cloud."""
    kind = cloud.spec.provider_ref.kind or "InfrastructureProvider"
    namespace = cloud.metadata.namespace if kind == "InfrastructureProvider" else ""
    return f"{kind}/{namespace}/{cloud.spec.provider_ref.name}"


def cloud_requests(kind: str) -> Callable[[Cluster], Iterable[Request]]:
    """The cloud of this kind to which a Cluster is bound."""

    def requests(cluster: Cluster) -> Iterable[Request]:
        for key in cloud_keys(cluster):
            key_kind, namespace, name = key.split("/")
            if key_kind == kind:
                yield Request(name, namespace)

    return requests


def provider_requests(kind: str) -> Callable[[AnyCloud], Iterable[Request]]:
    """The provider of this kind that a cloud names."""

    def requests(cloud: AnyCloud) -> Iterable[Request]:
        key_kind, namespace, name = provider_of(cloud).split("/")
        if key_kind == kind:
            yield Request(name, namespace)

    return requests


def cloud_aspects(cloud: AnyCloud) -> object:
    """What of a cloud matters to its Clusters."""
    status = cloud.status
    ready = is_true(status.conditions, "Ready") if status is not None else None
    return cloud.metadata.generation, cloud.metadata.labels, cloud.deleting, ready, (
        status.fingerprint if status is not None else ""
    )  # fmt: skip


def provider_aspects(provider: AnyProvider) -> object:
    """What of a provider matters to its clouds."""
    status = provider.status
    ready = is_true(status.conditions, "Ready") if status is not None else None
    return provider.metadata.generation, ready, status.fingerprint if status is not None else ""


def cloud_secrets(cloud: AnyCloud) -> Iterable[str]:
    """The Secrets that a cloud names, as namespace/name."""
    stack = cloud.spec.openstack
    if stack is None:
        return ()
    ref = stack.auth.credentials_secret_ref
    return (f"{cloud.metadata.namespace or ref.namespace}/{ref.name}",)


def provider_secrets(provider: AnyProvider) -> Iterable[str]:
    """The Secrets that a provider names, as namespace/name."""
    im = provider.spec.im
    if im is None:
        return
    for ref in (im.credentials_secret_ref, im.ca_bundle_secret_ref):
        if ref is not None:
            yield f"{provider.metadata.namespace or ref.namespace}/{ref.name}"
