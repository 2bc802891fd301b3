"""All services of a cluster, listening: kept in line with their routes, one service at a time.

Fronts come and go with their services. Connections outlive their route; they end with the proxy,
and when it has ended nothing of it listens or is connected.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from quintant.cluster.kubeproxy.routes import TCP, UDP, Backend, Front, Route
from quintant.cluster.kubeproxy.splice import Side
from quintant.cluster.kubeproxy.tcp import Listener
from quintant.cluster.kubeproxy.udp import Datagrams
from quintant.core.object import Request


class Proxy:
    """The fronts of all services; made by `proxying`."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._sides: set[Side] = set()
        self._fronts: dict[Front, Listener | Datagrams] = {}
        self._owned: dict[Request, frozenset[Front]] = {}

    @property
    def connections(self) -> int:
        """How many TCP connections go through it now."""
        return len(self._sides) // 2

    @property
    def mapped(self) -> dict[Request, dict[Front, Backend]]:
        """The fronts of each service that are not where they should be, and where they are."""
        found = {
            service: {
                front: place
                for front in sorted(fronts)
                if (place := self._fronts[front].place) != (front.address, front.port)
            }
            for service, fronts in self._owned.items()
        }
        return {service: moved for service, moved in sorted(found.items()) if moved}

    def place(self, front: Front) -> Backend:
        """Where to connect to reach a front."""
        held = self._fronts.get(front)
        return held.place if held is not None else Backend(front.address, front.port)

    async def serve(self, service: Request, routes: Iterable[Route]) -> None:
        """Make the routes of a service be these; none, and nothing of it listens."""
        wanted = {route.front: route for route in routes if route.front.protocol in (TCP, UDP)}
        for front in self._owned.get(service, frozenset()) - wanted.keys():
            self._fronts.pop(front).close()
        self._owned[service] = frozenset()
        for front, route in wanted.items():
            if front not in self._fronts:
                self._fronts[front] = self._opened(route)
            self._owned[service] |= {front}
            await self._fronts[front].follow(route)
        if not wanted:
            del self._owned[service]

    def close(self) -> None:
        """End every front and every connection."""
        for held in self._fronts.values():
            held.close()
        self._fronts.clear()
        for side in list(self._sides):
            side.abort()

    def _opened(self, route: Route) -> Listener | Datagrams:
        if route.front.protocol == TCP:
            return Listener(route, self._group, self._sides)
        return Datagrams(route, self._group)


@asynccontextmanager
async def proxying() -> AsyncIterator[Proxy]:
    """A proxy without services, for as long as the context lasts."""
    async with asyncio.TaskGroup() as group:
        proxy = Proxy(group)
        try:
            yield proxy
        finally:
            proxy.close()
            # Transports close their sockets in the next turn of the loop.
            await asyncio.sleep(0)
