"""kube-proxy: UDP at one virtual server: each client has a socket while it is used.

There is no connection to follow, so a client that is silent for `IDLE_SECONDS` is forgotten, and a
client whose backend is gone gets another with its next datagram.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from quintant.cluster.kubeproxy.load_balancing import RoundRobinBalancer
from quintant.cluster.kubeproxy.ports import address_of, bind_virtual_server
from quintant.cluster.kubeproxy.routes import RealServer, ServiceRoute
from quintant.core.clock import monotonic

IDLE_SECONDS = 30.0
"""As long as Linux remembers a UDP flow that was not answered."""
_Client = tuple[str, int]


class UdpListener(asyncio.DatagramProtocol):
    """One UDP virtual server; `before` is where it was in an earlier run."""

    def __init__(
        self, route: ServiceRoute, group: asyncio.TaskGroup, before: RealServer | None = None
    ) -> None:
        self._balancer, self._group = RoundRobinBalancer(route), group
        self._bound = bind_virtual_server(route.virtual_server, before)
        self._transport: asyncio.DatagramTransport | None = None
        self._flows: dict[_Client, _Flow] = {}
        self.address: RealServer = address_of(self._bound)
        """Where it really is."""

    async def set_route(self, route: ServiceRoute) -> None:
        """Send datagrams to the backends of a route from now on."""
        self._balancer.route = route
        for flow in list(self._flows.values()):
            if flow.real_server not in route.real_servers:
                flow.close()
        if self._transport is None:
            loop = asyncio.get_running_loop()
            made, _ = await loop.create_datagram_endpoint(lambda: self, sock=self._bound)
            self._transport = made

    def close(self) -> None:
        """Take nothing any more, and forget every client."""
        for flow in list(self._flows.values()):
            flow.close()
        if self._transport is not None:
            self._transport.close()
        self._bound.close()

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        client = (str(addr[0]), addr[1])
        flow = self._flows.get(client)
        if flow is None:
            flow = self._begin(client)
        if flow is not None:
            flow.send(data)

    def answer(self, data: bytes, client: _Client) -> None:
        """Pass on what a backend says to a client."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.sendto(data, client)

    def _begin(self, client: _Client) -> _Flow | None:
        order = self._balancer.candidates(client[0], monotonic())
        if not order:
            return None
        self._balancer.remember(client[0], order[0], monotonic())
        flow = self._flows[client] = _Flow(self, client, order[0])
        self._group.create_task(flow.open())
        return flow

    def forget(self, client: _Client) -> None:
        """A client's flow is over."""
        self._flows.pop(client, None)


class _Flow(asyncio.DatagramProtocol):
    """One client's socket to its backend."""

    def __init__(
        self, virtual_server: UdpListener, client: _Client, real_server: RealServer
    ) -> None:
        self.real_server = real_server
        self._front, self._client = virtual_server, client
        self._transport: asyncio.DatagramTransport | None = None
        self._early: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        """Make the socket, and send what came before it was there."""
        loop = asyncio.get_running_loop()
        try:
            await loop.create_datagram_endpoint(lambda: self, remote_addr=self.real_server)
        except OSError:
            self._front.forget(self._client)

    def send(self, data: bytes) -> None:
        """Pass on what the client says."""
        if self._transport is None:
            self._early.append(data)
        else:
            self._transport.sendto(data)
            self._restart_idle_timer()

    def close(self) -> None:
        """End the flow."""
        self._front.forget(self._client)
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)
        early, self._early = self._early, []
        for data in early:
            self.send(data)

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        self._restart_idle_timer()
        self._front.answer(data, self._client)

    def error_received(self, exc: Exception) -> None:
        # Nobody listens there: the client's next datagram may try another backend.
        self.close()

    def _restart_idle_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.close)
