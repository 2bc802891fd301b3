"""Clusters, clouds and providers as each phase leaves them behind."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

from quintant.api.meta import ConditionClaim
from quintant.core import codec
from quintant.core.object import Custom, replace
from quintant.core.resource import resource_of
from quintant.operators.infra.api import (
    Cloud,
    Cluster,
    GlobalCloud,
    GlobalInfrastructureProvider,
    InfrastructureProvider,
)
from quintant.operators.infra.api.cluster_status import Operation, OperationType
from quintant.operators.infra.cloud.observed import CloudObserved
from quintant.operators.infra.cloud.plan import record
from quintant.operators.infra.observed.answers import ErrorClass, Failure
from quintant.operators.infra.observed.cluster import Unresolved
from quintant.operators.infra.plan.status import (
    API_SERVER_REACHABLE,
    DEGRADED,
    INFRASTRUCTURE_READY,
    KUBECONFIG_READY,
    NODES_HEALTHY,
    NODES_NOT_READY,
    PAUSED,
    RECONNECTED,
    SCHEDULED,
    STALLED,
    StatusChange,
    claim,
)
from quintant.operators.infra.provider.observed import ProviderObserved
from quintant.operators.infra.provider.plan import status_of
from testbeds.kstatus import PhaseRecord

NOW = datetime(2026, 1, 1, tzinfo=UTC)
K = TypeVar("K", bound=Custom[Any, Any])
TEMPLATE = {"tosca_definitions_version": "tosca_simple_yaml_1_0"}
MADE = (claim(INFRASTRUCTURE_READY, True, "Configured"), claim(KUBECONFIG_READY, True, "Saved"))
REACHED = claim(API_SERVER_REACHABLE, True, "Reachable")
HEALTHY = claim(NODES_HEALTHY, True, "Healthy")


def bare(kind: type[K], **spec: Any) -> K:
    """An object that nobody has looked at."""
    meta: dict[str, Any] = {"name": "one", "generation": 3}
    meta |= {"namespace": "default"} if resource_of(kind).namespaced else {}
    return codec.decode(kind, codec.encode({"metadata": meta, "spec": spec}))


def cluster(*claims: ConditionClaim, operation: OperationType | None = None) -> Cluster:
    """A Cluster of which this is claimed."""
    given = bare(Cluster, tosca=TEMPLATE)
    fields: dict[str, Any] = {"observed_generation": 3, "cluster_id": "i1"}
    if operation is not None:
        fields["operation"] = Operation(type=operation, phase="Submitted")
    return replace(given, status=StatusChange(fields, claims).on(given, None, NOW))


PROVIDER = bare(InfrastructureProvider, type="im")


def provider(kind: type[Any], **seen: Any) -> Any:
    """A provider of which this was seen."""
    given = bare(kind, type="im")
    return replace(given, status=status_of(ProviderObserved(given, NOW, **seen)))


def cloud(kind: type[Any], **seen: Any) -> Any:
    """A cloud of which this was seen."""
    given = bare(kind, type="dummy", providerRef={"name": "im"})
    return replace(given, status=record(CloudObserved(given, NOW, **seen), None))


READY_PROVIDER = provider(InfrastructureProvider, version="2.0.0")
SILENT = Failure(ErrorClass.TRANSIENT, "Unreachable", "no connection")
REFUSED = Failure(ErrorClass.AUTH, "CloudUnauthorized", "no such user")
NO_SECRET = Unresolved("SecretNotFound", "Secret a is not there")
NOT_SHARED = Unresolved("SecretNotShared", "Secret a does not name its host")

CLUSTERS = (
    PhaseRecord(
        "PENDING", cluster(claim(SCHEDULED, False, "NoMatchingCloud", "none")), "InProgress"
    ),
    PhaseRecord("CREATING", cluster(operation="Create"), "InProgress"),
    PhaseRecord("RECONCILING", cluster(*MADE, REACHED, HEALTHY, operation="Update"), "InProgress"),
    PhaseRecord("CONNECTING", cluster(*MADE), "InProgress"),
    PhaseRecord(
        "CONNECTING-again",
        cluster(*MADE, claim(API_SERVER_REACHABLE, True, RECONNECTED), HEALTHY),
        "InProgress",
    ),
    PhaseRecord("ONLINE", cluster(*MADE, REACHED, HEALTHY), "Current"),
    PhaseRecord(
        "DEGRADED", cluster(*MADE, claim(API_SERVER_REACHABLE, None, DEGRADED)), "InProgress"
    ),
    PhaseRecord(
        "OFFLINE",
        cluster(*MADE, claim(API_SERVER_REACHABLE, False, "NoAnswer")),
        "InProgress",
        "Degraded",
    ),
    PhaseRecord(
        "NOTREADY",
        cluster(*MADE, REACHED, claim(NODES_HEALTHY, False, NODES_NOT_READY)),
        "InProgress",
        "Degraded",
    ),
    PhaseRecord(
        "UNHEALTHY",
        cluster(*MADE, REACHED, claim(NODES_HEALTHY, False, "Pressure")),
        "InProgress",
        "Degraded",
    ),
    PhaseRecord(
        "FAILING_RECONCILIATION",
        cluster(claim(INFRASTRUCTURE_READY, False, "Unauthorized", "no")),
        "InProgress",
        "Degraded",
    ),
    PhaseRecord(
        "paused",
        cluster(*MADE, REACHED, HEALTHY, claim(PAUSED, True, "Paused")),
        "Current",
        "Suspended",
    ),
    PhaseRecord(
        "FAILED",
        cluster(claim(STALLED, True, "TemplateInvalid", "no"), operation="Create"),
        "Failed",
    ),
)
PROVIDERS = tuple(
    each
    for kind in (InfrastructureProvider, GlobalInfrastructureProvider)
    for each in (
        PhaseRecord("ready", provider(kind, version="2.0.0"), "Current"),
        PhaseRecord("silent", provider(kind, failure=SILENT), "InProgress"),
        PhaseRecord("refused", provider(kind, failure=REFUSED), "Failed"),
        PhaseRecord("old", provider(kind, version="1.0.0"), "Failed"),
        PhaseRecord("no-secret", provider(kind, unresolved=NO_SECRET), "InProgress"),
        PhaseRecord("not-shared", provider(kind, unresolved=NOT_SHARED), "Failed"),
    )
)
CLOUDS = tuple(
    each
    for kind in (Cloud, GlobalCloud)
    for each in (
        PhaseRecord("ready", cloud(kind, provider=READY_PROVIDER, probed=True), "Current"),
        PhaseRecord("not-yet", cloud(kind, provider=PROVIDER), "InProgress"),
        PhaseRecord("silent", cloud(kind, provider=READY_PROVIDER, failure=SILENT), "InProgress"),
        PhaseRecord("refused", cloud(kind, provider=READY_PROVIDER, failure=REFUSED), "Failed"),
        PhaseRecord(
            "no-secret", cloud(kind, provider=READY_PROVIDER, unresolved=NO_SECRET), "InProgress"
        ),
        PhaseRecord(
            "not-shared", cloud(kind, provider=READY_PROVIDER, unresolved=NOT_SHARED), "Failed"
        ),
        PhaseRecord(
            "no-provider",
            cloud(kind, unresolved=Unresolved("ProviderNotFound", "im is not there")),
            "InProgress",
        ),
    )
)
PHASES = (*CLUSTERS, *PROVIDERS, *CLOUDS)
