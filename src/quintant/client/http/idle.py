"""Connections between two requests.

A connection whose exchange is complete is kept for the next one, for a while. When there will be
none, because an identity changed or a program stops, what rests closes at once, and what is under
way when it comes to rest.
"""

from __future__ import annotations

from quintant.core.clock import monotonic
from quintant.http.client_connection import ClientConnection

# An unused connection is kept this long: less than the 60 s after which common load balancers drop
# one silently, so that a request rarely finds it dead.
IDLE_SECONDS = 30.0


class IdleConnections:
    """Connections to one server that have nothing to do."""

    def __init__(self) -> None:
        self._resting: list[ClientConnection] = []
        self._retired = False

    def take(self, now: float) -> ClientConnection | None:
        """The connection that has rested least until now, if one is still of use."""
        while self._resting:
            connection = self._resting.pop()
            if not connection.usable:
                continue
            if now - connection.idle_since < IDLE_SECONDS:
                return connection
            connection.close()
        return None

    def keep(self, connection: ClientConnection) -> None:
        """Let a connection rest whose exchange is complete."""
        if self._retired:
            connection.close()
        elif connection.usable:
            connection.idle_since = monotonic()
            self._resting.append(connection)

    def tidy(self, now: float) -> bool:
        """Close what has rested too long; whether anything still rests."""
        old = [each for each in self._resting if now - each.idle_since >= IDLE_SECONDS]
        self._resting = [each for each in self._resting if each not in old and each.usable]
        for connection in old:
            connection.close()
        return bool(self._resting)

    def retire(self) -> None:
        """Close what rests now, and what comes to rest later."""
        self._retired = True
        while self._resting:
            self._resting.pop().close()
