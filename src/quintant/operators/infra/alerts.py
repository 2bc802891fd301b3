"""What is alarming about clusters, and about the providers that make them."""

from __future__ import annotations

from quintant.runtime.observe.alerts import Alert, with_runbook

ALERTS = with_runbook(
    Alert(
        "InfraProviderDown",
        "max by (namespace, provider) (infra_provider_up) < 1",
        "The provider {{ $labels.namespace }}/{{ $labels.provider }} is silent, or refuses us.",
        10,
        "critical",
    ),
    Alert(
        "InfraClusterFailed",
        'max by (state) (infra_cluster_state{state=~"FAILED|FAILING_RECONCILIATION"}) > 0',
        "{{ $value }} Clusters are {{ $labels.state }}.",
        15,
    ),
    Alert(
        "InfraClusterUnhealthy",
        'max by (state) (infra_cluster_state{state=~"OFFLINE|DEGRADED|NOTREADY|UNHEALTHY"}) > 0',
        "{{ $value }} Clusters are {{ $labels.state }}.",
        15,
    ),
    Alert(
        "InfraReconfiguresAgain",
        "sum(increase(infra_reconfigure_attempts_total[1h])) > 10",
        "Clusters were set right {{ $value }} times within an hour.",
        0,
    ),
    Alert(
        "InfraObserverFailures",
        "sum(rate(infra_observer_failures_total[10m])) > 0",
        "Made clusters cannot be looked at.",
        30,
    ),
)
