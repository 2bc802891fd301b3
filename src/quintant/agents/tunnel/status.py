"""What a tunnel tells of itself: the document that the operator reads, and who waits for changes.

Nothing in it is assumed: Connected means that the relay answered the greeting of this very
connection. Tokens never come near it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from quintant.wire.tunnelreport import ERROR_LENGTH, DialState, RelayReport, Report, ServiceReport

Now = Callable[[], datetime]


def timestamp(moment: datetime) -> str:
    """RFC 3339, with seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class TunnelStatus:
    """What is known now; each change has a number, and wakes those who wait."""

    def __init__(self, pod: str, now: Now) -> None:
        self._now = now
        self._changed = asyncio.Event()
        self._relays: dict[str, RelayReport] = {}
        self._seq, self._pod, self._observed = 0, pod, timestamp(now())
        self.admin_port = 0
        self.draining: bool = False
        self._settled = False
        self._visits = self._told_visits = 0
        self.service: ServiceReport = ServiceReport()

    @property
    def connected(self) -> bool:
        """Whether visitors can come by any relay."""
        return any(each.state is DialState.CONNECTED for each in self._relays.values())

    @property
    def ready(self) -> bool:
        """Whether another tunnel may leave for this one: visitors come, by all relays at first."""
        return self.connected and self._settled and not self.draining

    def settle(self) -> None:
        """Wait for no first connection any longer: a relay that is away must not hold a rollout."""
        self._settled = True

    @property
    def relays(self) -> tuple[RelayReport, ...]:
        """How each relay is, in the order of the spec."""
        return tuple(self._relays.values())

    def tell(self, relay: RelayReport) -> None:
        """Something is different at a relay; `since` moves with the state."""
        known = self._relays.get(relay.name)
        moved = known is None or known.state is not relay.state
        since = timestamp(self._now()) if moved or known is None else known.since
        relay = msgspec.structs.replace(
            relay, since=since, last_error=relay.last_error[:ERROR_LENGTH]
        )
        self._relays[relay.name] = relay
        self._settled |= all(each.state is DialState.CONNECTED for each in self._relays.values())
        if relay != known:
            self._change()

    def measure(self, name: str, rtt_ms: float) -> None:
        """The round trip to a relay; it is no change worth telling."""
        self._relays[name] = msgspec.structs.replace(self._relays[name], rtt_ms=rtt_ms)

    def reach(self, error: str) -> None:
        """The Service was reached, or was not for this reason."""
        found = ServiceReport(not error, error[:ERROR_LENGTH])
        if found != self.service:
            self.service = found
            self._change()

    def visit(self) -> None:
        """A visitor came; `tell_visits` tells of it."""
        self._visits += 1

    def tell_visits(self) -> None:
        """Tell of the visitors who came since, if any did."""
        if self._visits != self._told_visits:
            self._change()

    def drain(self) -> None:
        """The tunnel is leaving."""
        self.draining = True
        self._change()

    def report(self) -> Report:
        """The document, now."""
        return Report(
            v=1, seq=self._seq, pod=self._pod, draining=self.draining,
            admin_port=self.admin_port, service=self.service, relays=self.relays,
            visits=self._visits, observed_at=self._observed,
        )  # fmt: skip

    async def after(self, seq: int) -> Report:
        """The document, once it is newer than that."""
        while self._seq <= seq:
            await self._changed.wait()
        return self.report()

    def _change(self) -> None:
        self._seq += 1
        self._told_visits = self._visits
        self._observed = timestamp(self._now())
        self._changed.set()
        self._changed = asyncio.Event()
