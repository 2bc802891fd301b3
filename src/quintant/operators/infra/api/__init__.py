"""The kinds of infra, and every name that a user may type.

    Cluster ──scheduledTo──> Cloud | GlobalCloud ──providerRef──> …InfrastructureProvider

A Cluster is a whole Kubernetes cluster, described by a TOSCA template. A Cloud is where machines
can be had; a provider is the service that has them made there. Credentials and kubeconfigs live in
Secrets only; the objects name them.
"""

from __future__ import annotations

from quintant.operators.infra.api.claim import InfrastructureClaim
from quintant.operators.infra.api.cloud import Cloud, CloudSpec, CloudStatus, GlobalCloud
from quintant.operators.infra.api.cluster import Cluster, ClusterSpec
from quintant.operators.infra.api.cluster_status import ClusterStatus
from quintant.operators.infra.api.names import (
    CLUSTER_LABEL,
    FINALIZER,
    FORCE_DELETE,
    GROUP,
    HOSTS,
    IN_USE,
    INFRASTRUCTURE,
    LEGACY_FINALIZER,
    PAUSED,
    RETRY,
    VERSION,
    WATCH_LABEL,
)
from quintant.operators.infra.api.provider import (
    GlobalInfrastructureProvider,
    InfrastructureProvider,
    ProviderSpec,
    ProviderStatus,
)

__all__ = [
    "CLUSTER_LABEL",
    "FINALIZER",
    "FORCE_DELETE",
    "GROUP",
    "HOSTS",
    "INFRASTRUCTURE",
    "IN_USE",
    "LEGACY_FINALIZER",
    "PAUSED",
    "RETRY",
    "VERSION",
    "WATCH_LABEL",
    "AnyCloud",
    "AnyProvider",
    "Cloud",
    "CloudSpec",
    "CloudStatus",
    "Cluster",
    "ClusterSpec",
    "ClusterStatus",
    "GlobalCloud",
    "GlobalInfrastructureProvider",
    "InfrastructureClaim",
    "InfrastructureProvider",
    "ProviderSpec",
    "ProviderStatus",
]

AnyCloud = Cloud | GlobalCloud
AnyProvider = InfrastructureProvider | GlobalInfrastructureProvider
