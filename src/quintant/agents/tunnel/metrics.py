"""The series of a tunnel, by the names of the Portal Expose contract."""

from __future__ import annotations

from quintant.agents.multiplex.metrics import Histogram, Series, exposition
from quintant.agents.tunnel.status import TunnelStatus
from quintant.wire.tunnelreport import State

_P = "portal_tunnel"


class TunnelMetrics:
    """What a tunnel counts."""

    def __init__(self) -> None:
        self.connected = Series(
            f"{_P}_relay_connected", "Whether a relay is connected.", "gauge", ["relay"]
        )
        self.connects = Series(
            f"{_P}_relay_connects_total", "Attempts to connect.", "counter", ["relay", "result"]
        )
        self.round_trip = Series(
            f"{_P}_relay_rtt_seconds", "Round trip to a relay.", "gauge", ["relay"]
        )
        self.active = Series(f"{_P}_streams_active", "Streams open now.", "gauge")
        self.streams = Series(f"{_P}_streams_total", "Streams ended.", "counter", ["result"])
        self.bytes = Series(f"{_P}_bytes_total", "Bytes of streams.", "counter", ["direction"])
        self.dial = Histogram(f"{_P}_service_dial_seconds", "Time to connect to the Service.")
        self.draining = Series(f"{_P}_draining", "Whether the tunnel is leaving.", "gauge")

    def attempted(self, relay: str, result: str) -> None:
        self.connects.add(relay, result)

    def text(self, status: TunnelStatus, active: int) -> str:
        """Everything, as it is now."""
        self.active.set(to=active)
        self.draining.set(to=float(status.draining))
        for relay in status.relays:
            self.connected.set(relay.name, to=float(relay.state is State.CONNECTED))
            self.round_trip.set(relay.name, to=relay.rtt_ms / 1000)
        return exposition(
            (
                self.connected, self.connects, self.round_trip, self.active, self.streams,
                self.bytes, self.dial, self.draining,
            )
        )  # fmt: skip
