"""The series of a relay, by the names of the Portal Expose contract. No names of apps in them."""

from __future__ import annotations

from collections.abc import Iterable

from quintant.agents.multiplex.metrics import Histogram, Series, exposition
from quintant.agents.relay.name_registry import NameRegistry
from quintant.agents.relay.tunnel_connection import TunnelConnection

_P = "portal_relay"


class RelayMetrics:
    """What a relay counts."""

    def __init__(self) -> None:
        self._sessions = Series(f"{_P}_sessions", "Connected tunnels.", "gauge")
        self._groups = Series(f"{_P}_groups", "Names with a tunnel.", "gauge")
        self._requests = Series(f"{_P}_requests_total", "Answers.", "counter", ["code_class"])
        self._seconds = Histogram(f"{_P}_request_seconds", "Time of whole answers.")
        self._first_byte = Histogram(f"{_P}_first_byte_seconds", "Time to the head of answers.")
        self._active = Series(f"{_P}_streams_active", "Requests under way.", "gauge")
        self.retries = Series(f"{_P}_open_retries_total", "Other attempts.", "counter", ["reason"])
        self.denied = Series(f"{_P}_auth_failures_total", "Tunnels turned away.", "counter")
        self._bytes = Series(f"{_P}_bytes_total", "Bytes of streams.", "counter", ["direction"])
        self._stalled = Series(
            f"{_P}_backpressure_seconds_total", "Time that writing to tunnels took.", "counter"
        )
        self.active = 0

    def carried(self, to_service: int, to_visitor: int) -> None:
        """Bytes went through a stream."""
        self._bytes.add("in", by=to_service)
        self._bytes.add("out", by=to_visitor)

    def answered(self, status: int, seconds: float, first_byte: float) -> None:
        """A Service answered."""
        self.refused(status)
        self._seconds.observe(seconds)
        self._first_byte.observe(first_byte)

    def refused(self, status: int) -> None:
        """The relay itself answered."""
        self._requests.add(f"{status // 100}xx")

    def stalled(self, seconds: float) -> None:
        """A tunnel left, after its writer waited so long."""
        self._stalled.add(by=seconds)

    def text(self, names: NameRegistry[TunnelConnection]) -> str:
        """Everything, as it is now."""
        self._sessions.set(to=sum(1 for _ in names.everybody()))
        self._groups.set(to=names.groups)
        self._active.set(to=self.active)
        return exposition(self._all())

    def _all(self) -> Iterable[Series | Histogram]:
        return (
            self._sessions, self._groups, self._requests, self._seconds, self._first_byte,
            self._active, self.retries, self.denied, self._bytes, self._stalled,
        )  # fmt: skip
