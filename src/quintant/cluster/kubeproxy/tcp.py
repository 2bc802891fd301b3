"""TCP at one front: accept, choose a backend, dial it, and join the two.

A front without backends refuses connections, as a real cluster does: its socket is bound, so that
its place is known and nobody else's, and nobody listens on it. A backend that cannot be reached is
passed over for the next. Whoever is connected stays so, whatever becomes of the route.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

from quintant.cluster.kubeproxy.load_balancing import Balance
from quintant.cluster.kubeproxy.ports import bind, place_of, unavailable
from quintant.cluster.kubeproxy.routes import Backend, Route
from quintant.cluster.kubeproxy.splice import Side
from quintant.core.clock import monotonic

CONNECT_SECONDS = 5.0
"""How long to wait for one backend: on one machine an answer is there at once, or never."""
BACKLOG = 1024
"""Connections that may wait to be accepted."""


class Listener:
    """One TCP front; `sides` are all connections of the proxy, for whoever ends it."""

    def __init__(self, route: Route, group: asyncio.TaskGroup, sides: set[Side]) -> None:
        self._balance = Balance(route)
        self._group, self._sides = group, sides
        self._server: asyncio.Server | None = None
        self._socket: socket.socket | None = bind(route.front)
        self.place: Backend = place_of(self._socket)
        """Where it really is."""

    async def follow(self, route: Route) -> None:
        """Send connections to the backends of a route from now on."""
        if route != self._balance.route:
            self._balance.route = route
        if route.backends and self._server is None:
            await self._listen()
        elif not route.backends and self._server is not None:
            self.close()
            self._take(bind(route.front, self.place))

    def close(self) -> None:
        """Accept nobody any more; those who are connected stay."""
        if self._server is not None:
            self._server.close()
        if self._socket is not None:
            self._socket.close()
        self._server = self._socket = None

    async def _listen(self) -> None:
        try:
            bound = self._listening()
        except OSError as error:
            # Two may bind one port, and the first to listen has it.
            if not unavailable(error):
                raise
            self.close()
            self._take(bind(self._balance.route.front, taken=self.place))
            bound = self._listening()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._side, sock=bound, backlog=BACKLOG)

    def _listening(self) -> socket.socket:
        assert self._socket is not None, "a front that has no server is bound"
        self._socket.listen(BACKLOG)
        return self._socket

    def _take(self, bound: socket.socket) -> None:
        self._socket, self.place = bound, place_of(bound)

    def _side(self) -> Side:
        return Side(self._accepted, self._sides.discard)

    def _accepted(self, side: Side) -> None:
        self._sides.add(side)
        self._group.create_task(self._serve(side))

    async def _serve(self, side: Side) -> None:
        client = side.peer
        for backend in self._balance.order(client, monotonic()):
            far = await self._dialled(backend)
            if far is not None:
                self._balance.chosen(client, backend, monotonic())
                side.join(far)
                return
        side.abort()

    async def _dialled(self, backend: Backend) -> Side | None:
        loop = asyncio.get_running_loop()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                _, far = await loop.create_connection(self._far, *backend)
                return far
        return None

    def _far(self) -> Side:
        return Side(self._sides.add, self._sides.discard)
