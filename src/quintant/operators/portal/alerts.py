"""What is alarming about exposed Services."""

from __future__ import annotations

from quintant.runtime.observe.alerts import Alert, with_runbook

ALERTS = with_runbook(
    Alert(
        "PortalExposeFailed",
        'max(portalexpose_status_phase{phase="Failed"}) > 0',
        "{{ $value }} PortalExposes are in the phase Failed.",
        10,
        "critical",
    ),
    Alert(
        "PortalExposeDegraded",
        'max(portalexpose_status_phase{phase="Degraded"}) > 0',
        "{{ $value }} PortalExposes are in the phase Degraded.",
        15,
    ),
    Alert(
        "PortalRelayDisconnected",
        'max(portalexpose_relay_connections_total{status="Disconnected"}) > 0',
        "{{ $value }} relays of PortalExposes are not connected.",
    ),
    Alert(
        "PortalStatusLag",
        "histogram_quantile(0.99,"
        " sum by (le) (rate(portalexpose_status_lag_seconds_bucket[30m]))) > 5",
        "What tunnels tell reaches the status later than within five seconds.",
        15,
    ),
)
