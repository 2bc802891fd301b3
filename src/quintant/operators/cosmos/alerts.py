"""What is alarming about full nodes, their volumes and their snapshots."""

from __future__ import annotations

from quintant.runtime.observe.alerts import Alert, with_runbook

ALERTS = with_runbook(
    Alert(
        "CosmosNoNodeAvailable",
        "max by (namespace, fullnode) (cosmos_fullnode_available) < 1",
        "No node of {{ $labels.namespace }}/{{ $labels.fullnode }} is in sync and ready.",
        10,
        "critical",
    ),
    Alert(
        "CosmosFullNodeError",
        'max(cosmos_fullnode_phase{phase="Error"}) > 0',
        "{{ $value }} CosmosFullNodes are in the phase Error.",
    ),
    Alert(
        "CosmosNodeOutOfSync",
        "max by (namespace, fullnode, pod) (cosmos_node_in_sync) < 1",
        "The node {{ $labels.namespace }}/{{ $labels.pod }} has not been in sync for half an hour.",
        30,
    ),
    Alert(
        "CosmosNodeBehind",
        "max by (namespace, fullnode, pod) (cosmos_node_lag_blocks) > 100",
        "{{ $labels.namespace }}/{{ $labels.pod }} is {{ $value }} blocks behind its siblings.",
        15,
    ),
    Alert(
        "CosmosDiskFull",
        "max by (namespace, fullnode, pod) (cosmos_node_disk_used_percent) > 90",
        "The volume of {{ $labels.namespace }}/{{ $labels.pod }} is {{ $value }} % full.",
        15,
    ),
    Alert(
        "CosmosRestartsTooOften",
        "sum by (reason) (increase(cosmos_node_restarts_total[1h])) > 3",
        "Nodes were restarted {{ $value }} times within an hour: {{ $labels.reason }}.",
        0,
    ),
    Alert(
        "CosmosSnapshotFailed",
        'sum(increase(cosmos_snapshots_total{result="failure"}[6h])) > 0',
        "A snapshot of a volume failed.",
        0,
    ),
)
