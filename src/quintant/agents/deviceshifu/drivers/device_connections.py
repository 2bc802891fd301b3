"""Connections to a device that nobody uses at the moment, kept for who asks next.

As many as were needed at once, and not for long: a small device has few, and others want them, too.
The newest is used first, so the others grow old and are let go.
"""

from __future__ import annotations

import asyncio

from quintant.http.client_connection import ClientConnection

MOST_IDLE = 16
FRESH_SECONDS = 10.0
"""A connection that was idle for longer is not used again: the device may have let go of it."""


class DeviceConnections:
    """Those of one device, the oldest first."""

    def __init__(self) -> None:
        self._idle: list[ClientConnection] = []

    def __len__(self) -> int:
        return len(self._idle)

    def take(self) -> ClientConnection | None:
        """One that can be used, if there is any."""
        self._drop_old()
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
            connection.close()
        return None

    def keep(self, connection: ClientConnection) -> None:
        """Take one back; it ends if it cannot be used again, or there are enough."""
        self._drop_old()
        if connection.usable and len(self._idle) < MOST_IDLE:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)
        else:
            connection.close()

    def any_usable(self) -> bool:
        """Whether there is one that can be used."""
        self._drop_old()
        return any(each.usable for each in self._idle)

    def forget(self, connection: ClientConnection) -> None:
        """One ended by itself."""
        if connection in self._idle:
            self._idle.remove(connection)

    def close(self) -> None:
        """End all."""
        while self._idle:
            self._idle.pop().close()

    def _drop_old(self) -> None:
        oldest = asyncio.get_running_loop().time() - FRESH_SECONDS
        while self._idle and self._idle[0].idle_since <= oldest:
            self._idle.pop(0).close()
