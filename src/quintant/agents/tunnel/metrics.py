"""The series of a tunnel, by the names of the Portal Expose contract."""

from __future__ import annotations

from quintant.agents.tunnel.status import TunnelStatus
from quintant.metrics import Counter, Gauge, Histogram, render
from quintant.wire.tunnelreport import DialState

_P = "portal_tunnel"


class TunnelMetrics:
    """What a tunnel counts."""

    def __init__(self) -> None:
        self.connected: Gauge = Gauge(
            f"{_P}_relay_connected", "Whether a relay is connected.", ["relay"]
        )
        self.connects: Counter = Counter(
            f"{_P}_relay_connects_total", "Attempts to connect.", ["relay", "result"]
        )
        self.round_trip: Gauge = Gauge(
            f"{_P}_relay_rtt_seconds", "Round trip to a relay.", ["relay"]
        )
        self.active: Gauge = Gauge(f"{_P}_streams_active", "Streams open now.")
        self.streams: Counter = Counter(f"{_P}_streams_total", "Streams ended.", ["result"])
        self.bytes: Counter = Counter(f"{_P}_bytes_total", "Bytes of streams.", ["direction"])
        self.dial: Histogram = Histogram(
            f"{_P}_service_dial_seconds", "Time to connect to the Service."
        )
        self.draining: Gauge = Gauge(f"{_P}_draining", "Whether the tunnel is leaving.")

    def attempted(self, relay: str, result: str) -> None:
        self.connects.labels(relay, result).inc()

    def render(self, status: TunnelStatus, active: int) -> bytes:
        """Everything, as it is now."""
        self.active.set(active)
        self.draining.set(status.draining)
        for relay in status.relays:
            self.connected.labels(relay.name).set(relay.state is DialState.CONNECTED)
            self.round_trip.labels(relay.name).set(relay.rtt_ms / 1000)
        return render(
            (
                self.connected, self.connects, self.round_trip, self.active, self.streams,
                self.bytes, self.dial, self.draining,
            )
        )  # fmt: skip
