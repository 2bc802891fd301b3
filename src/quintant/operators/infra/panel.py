"""infra on the console: clusters with what was done last, the clouds and providers. Pure."""

from __future__ import annotations

from quintant.operators.infra.api.cloud import Cloud, GlobalCloud
from quintant.operators.infra.api.cluster import Cluster
from quintant.operators.infra.api.cluster_status import ClusterStatus, LastError
from quintant.operators.infra.api.provider import (
    GlobalInfrastructureProvider,
    InfrastructureProvider,
)
from quintant.runtime.observe.system_panel import (
    NO_STATUS,
    ObjectState,
    PanelKind,
    PanelPlot,
    PanelRow,
    SystemPanel,
    columns,
    judge_conditions,
    text_of,
)

STATES: dict[str, ObjectState] = {
    "ONLINE": "well",
    **dict.fromkeys(("PENDING", "CREATING", "RECONCILING", "CONNECTING", "DELETING"), "working"),
    **dict.fromkeys(
        ("OFFLINE", "DEGRADED", "NOTREADY", "UNHEALTHY", "FAILED", "FAILING_RECONCILIATION",
         "FAILING_METRICS"),
        "broken",
    ),
}  # fmt: skip


MOST_ERRORS = 3
"""Of what failed lately, newest first, in a cell; the cluster's own page has all."""


def cluster_row(cluster: Cluster) -> PanelRow:
    """A whole cluster, made or looked at."""
    status = cluster.status
    if status is None:
        return PanelRow("unknown", NO_STATUS, ("",) * 6)
    state = STATES.get(status.state or "", "unknown")
    nodes, operation, errors = status.nodes, status.operation, status.last_errors
    cells = (
        text_of(status.state),
        status.running_on.name if status.running_on is not None else "",
        "" if nodes is None else f"{nodes.ready}/{nodes.total}",
        "" if operation is None else f"{operation.type} {operation.phase}",
        "; ".join(_error(each) for each in errors[: -MOST_ERRORS - 1 : -1]),
        status.cluster_id,
    )
    figures = {"infra-nodes": float(nodes.ready if nodes is not None else 0)}
    return PanelRow(state, _sentence(status), cells, figures=figures)


def cloud_row(cloud: Cloud | GlobalCloud) -> PanelRow:
    """Where machines can be had."""
    status = cloud.status
    bound = text_of(status.bound_clusters) if status is not None else ""
    state, sentence = judge_conditions(status.conditions if status is not None else ())
    return PanelRow(state, sentence, (cloud.spec.type, cloud.spec.provider_ref.name, bound))


def provider_row(provider: InfrastructureProvider | GlobalInfrastructureProvider) -> PanelRow:
    """A service that makes machines."""
    status = provider.status
    state, sentence = judge_conditions(status.conditions if status is not None else ())
    version = status.version if status is not None else ""
    clouds = text_of(status.clouds) if status is not None else ""
    return PanelRow(state, sentence, (version, clouds))


def _error(error: LastError) -> str:
    """What failed, why, and when."""
    return f"{error.operation} {error.reason} at {error.time}".strip()


def _sentence(status: ClusterStatus) -> str:
    return status.phase_message or judge_conditions(status.conditions)[1]


_CLOUD = columns("Type", "Provider", "#Clusters")
_PROVIDER = columns("Version", "#Clouds")

PANEL = SystemPanel(
    "infra",
    "clusters on clouds",
    (
        PanelKind(
            Cluster,
            columns("State", "Cloud", "#Nodes", "Operation", "Last errors", "ID"),
            cluster_row,
        ),
        PanelKind(Cloud, _CLOUD, cloud_row),
        PanelKind(GlobalCloud, _CLOUD, cloud_row),
        PanelKind(InfrastructureProvider, _PROVIDER, provider_row),
        PanelKind(GlobalInfrastructureProvider, _PROVIDER, provider_row),
    ),
    (PanelPlot("infra-nodes", "Ready nodes of clusters"),),
)
