"""sessionAffinity: the backend for each client: round robin, or ClientIP affinity. No I/O.

Clients go round the backends in turn. With affinity a client comes back to its backend for as long
as that is there and it keeps coming. A backend that was tried in vain is the last choice.
"""

from __future__ import annotations

from msgspec import Struct, field

from quintant.cluster.kubeproxy.routes import RealServer, ServiceRoute

REMEMBERED = 10_000
"""Clients whose backend is remembered, the latest ones: a bound for memory, not for users."""


class RoundRobinBalancer(Struct):
    """The choices of one route. Time is whatever clock the caller reads."""

    route: ServiceRoute
    _turn: int = 0
    _known: dict[str, tuple[RealServer, float]] = field(default_factory=dict)

    def candidates(self, client: str, now: float) -> list[RealServer]:
        """The backends in the order in which to try them for a client."""
        members = self.route.real_servers
        if not members:
            return []
        turn, self._turn = self._turn % len(members), self._turn + 1
        around = [*members[turn:], *members[:turn]]
        held = self._held(client, now)
        return [held, *(each for each in around if each != held)] if held else around

    def remember(self, client: str, real_server: RealServer, now: float) -> None:
        """Note that a client was served by a backend."""
        if self.route.affinity:
            self._known.pop(client, None)
            self._known[client] = (real_server, now + self.route.affinity)
            while len(self._known) > REMEMBERED:
                del self._known[next(iter(self._known))]

    def _held(self, client: str, now: float) -> RealServer | None:
        real_server, until = self._known.get(client, (None, now))
        there = real_server is not None and now < until and real_server in self.route.real_servers
        return real_server if there and self.route.affinity else None
