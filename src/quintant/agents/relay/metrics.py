"""The series of a relay, by the names of the Portal Expose contract. No names of apps in them."""

from __future__ import annotations

from collections.abc import Callable

from quintant.agents.relay.tunnel.name_registry import NameRegistry
from quintant.agents.relay.tunnel.tunnel_connection import TunnelConnection
from quintant.metrics import Counter, CounterSeries, Gauge, Histogram, render

_P = "portal_relay"


class RelayMetrics:
    """What a relay counts."""

    def __init__(self) -> None:
        self._sessions = Gauge(f"{_P}_sessions", "Connected tunnels.")
        self._groups = Gauge(f"{_P}_groups", "Names with a tunnel.")
        self._requests = Counter(f"{_P}_requests_total", "Answers.", ["code_class"])
        self._seconds = Histogram(f"{_P}_request_seconds", "Time of whole answers.")
        self._first_byte = Histogram(f"{_P}_first_byte_seconds", "Time to the head of answers.")
        self._active = Gauge(f"{_P}_streams_active", "Requests under way.")
        self.retries: Counter = Counter(f"{_P}_open_retries_total", "Other attempts.", ["reason"])
        self.denied: Counter = Counter(f"{_P}_auth_failures_total", "Tunnels turned away.")
        self._bytes = Counter(f"{_P}_bytes_total", "Bytes of streams.", ["direction"])
        self._stalled = Counter(
            f"{_P}_backpressure_seconds_total", "Time that writing to tunnels took."
        )
        self._queued = Gauge(f"{_P}_queued", "Visitors who wait for a stream.")
        self._queue_seconds = Histogram(f"{_P}_queue_seconds", "Time of waiting for a stream.")
        self.turned_away: Counter = Counter(
            f"{_P}_turned_away_total", "Visitors turned away.", ["reason"]
        )
        self._in, self._out = self._bytes.labels("in"), self._bytes.labels("out")
        self._second, self._first = self._seconds.labels(), self._first_byte.labels()
        self._classes: dict[int, CounterSeries] = {}
        self.active = 0
        self.queued: Callable[[], int] = lambda: 0
        """How many visitors wait."""

    def carried(self, to_service: int, to_visitor: int) -> None:
        """Bytes went through a stream."""
        self._in.value += to_service
        self._out.value += to_visitor

    def answered(self, status: int, seconds: float, first_byte: float) -> None:
        """A Service answered."""
        self.refused(status)
        self._second.observe(seconds)
        self._first.observe(first_byte)

    def refused(self, status: int) -> None:
        """The relay itself answered."""
        kind = status // 100
        if kind not in self._classes:
            self._classes[kind] = self._requests.labels(f"{kind}xx")
        self._classes[kind].value += 1

    def waited(self, seconds: float) -> None:
        """A visitor waited for a stream."""
        self._queue_seconds.observe(seconds)

    def stalled(self, seconds: float) -> None:
        """A tunnel left, after its writer waited so long."""
        self._stalled.inc(seconds)

    def render(self, names: NameRegistry[TunnelConnection]) -> bytes:
        """Everything, as it is now."""
        self._sessions.set(sum(1 for _ in names.everybody()))
        self._groups.set(names.groups)
        self._active.set(self.active)
        self._queued.set(self.queued())
        return render(
            (
                self._sessions, self._groups, self._requests, self._seconds, self._first_byte,
                self._active, self.retries, self.denied, self._bytes, self._stalled,
                self._queued, self._queue_seconds, self.turned_away,
            )
        )  # fmt: skip
