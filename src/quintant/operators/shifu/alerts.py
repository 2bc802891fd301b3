"""What is alarming about devices, and the nodes that their deviceShifus run on."""

from __future__ import annotations

from quintant.runtime.observe.alerts import Alert, with_runbook

FULL_BYTES = 64 * 2**20
"""Less free memory than a deviceShifu or two need."""

ALERTS = with_runbook(
    Alert(
        "ShifuDeviceUnplaced",
        "max(shifu_unplaced_devices) > 0",
        "{{ $value }} devices have no node.",
        10,
        "critical",
    ),
    Alert(
        "ShifuDeviceFailed",
        'max(shifu_devices{phase="Failed"}) > 0',
        "{{ $value }} devices are in the phase Failed.",
    ),
    Alert(
        "ShifuDeviceUnknown",
        'max(shifu_devices{phase="Unknown"}) > 0',
        "Nothing is known of {{ $value }} devices.",
        15,
    ),
    Alert(
        "ShifuNodeLost",
        'max(shifu_nodes{phase="Lost"}) > 0',
        "{{ $value }} edge nodes are lost.",
        5,
    ),
    Alert(
        "ShifuNodeFull",
        f"min by (node) (shifu_node_free_bytes) < {FULL_BYTES}",
        "The node {{ $labels.node }} has {{ $value }} bytes of memory left.",
        15,
    ),
    Alert(
        "ShifuEvacuationSlow",
        "histogram_quantile(0.99, sum by (le) (rate(shifu_evacuation_seconds_bucket[30m]))) > 120",
        "Devices take longer than two minutes to leave a node.",
        5,
    ),
    Alert(
        "ShifuWriteErrors",
        "sum(rate(shifu_write_errors_total[10m])) > 0.1",
        "Passes over devices end in errors.",
        15,
    ),
)
