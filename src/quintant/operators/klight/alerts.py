"""What is alarming about networks of lightpeers."""

from __future__ import annotations

from quintant.runtime.observe.alerts import Alert, with_runbook

ALERTS = with_runbook(
    Alert(
        "KlightNetworkWithoutContact",
        "max by (namespace, network) (klight_stack_depth) < 1",
        "The network {{ $labels.namespace }}/{{ $labels.network }} has pods, and no member.",
        10,
        "critical",
    ),
    Alert(
        "KlightMembersDown",
        'max by (namespace, network) (klight_members{state="Down"}) > 0',
        "{{ $value }} members of {{ $labels.namespace }}/{{ $labels.network }} do not answer.",
    ),
    Alert(
        "KlightPodsWaiting",
        'max by (namespace, network) (klight_members{state="Waiting"}) > 0',
        "{{ $value }} pods wait to join {{ $labels.namespace }}/{{ $labels.network }}.",
        15,
    ),
    Alert(
        "KlightPodsInvalid",
        'max by (namespace, network) (klight_members{state="Invalid"}) > 0',
        "{{ $value }} pods of {{ $labels.namespace }}/{{ $labels.network }} can never join.",
        15,
        "info",
    ),
    Alert(
        "KlightRepairFailed",
        'sum(increase(klight_repairs_total{result="failed"}[30m])) > 0',
        "A network that fell apart could not be brought together.",
        0,
    ),
)
