"""websocketStreamHandler: ports of a pod over the channels of one WebSocket, named in its query.

Each port has two channels, one for data and one for what goes wrong; both begin with the port's
number. There is one connection with each port: a client that wants another one begins a session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.meta.status import bad_request
from quintant.cluster.apiserver.streaming.port_forward import (
    IDLE_SECONDS,
    PIECE,
    Dial,
    ForwardedPort,
    put_input,
    read_port,
    send_input,
)
from quintant.cluster.apiserver.streaming.websocket import WebSocketConnection

MOST_PORTS = 128
"""Of a session: a channel's number is one byte, and a port has two."""


def read_ports(query: str | None) -> tuple[int, ...]:
    """The ports of a query; 400 if there is none, or something else among them."""
    if query is None:
        raise bad_request('query parameter "port" is required')
    words = query.split(",")
    if not query or len(words) > MOST_PORTS:
        raise bad_request('query parameter "port" cannot be empty, nor have more than 128 ports')
    for each in words:
        if not read_port(each):
            raise bad_request(f"unable to parse {quoted(query)} as a port")
    return tuple(read_port(each) for each in words)


class ChannelPortForward:
    """Connections of a client with some ports of a pod, one with each."""

    def __init__(
        self, connection: WebSocketConnection, dial: Dial, pod: str, ports: Sequence[int]
    ) -> None:
        self._connection, self._dial, self._pod = connection, dial, pod
        self._ports = [
            ForwardedPort(port, error=2 * at + 1, data=2 * at) for at, port in enumerate(ports)
        ]

    async def serve(self) -> None:
        """Forward until every connection has ended, or the client leaves or does nothing."""
        with suppress(TimeoutError):
            async with asyncio.timeout(IDLE_SECONDS) as limit, asyncio.TaskGroup() as group:
                for port in self._ports:
                    number = port.port.to_bytes(2, "little")
                    await self._connection.send(port.data, number)
                    await self._connection.send(port.error, number)
                    port.task = group.create_task(self._forward(port))
                taking = group.create_task(self._take(limit))
                tasks = [port.task for port in self._ports if port.task is not None]
                ended = asyncio.gather(*tasks, return_exceptions=True)
                await asyncio.wait((ended, taking), return_when=asyncio.FIRST_COMPLETED)
                for each in (*tasks, taking):
                    each.cancel()
        await self._connection.close()

    async def _take(self, limit: asyncio.Timeout) -> None:
        data = {port.data: port for port in self._ports}
        async for channel, payload in self._connection.messages():
            limit.reschedule(asyncio.get_running_loop().time() + IDLE_SECONDS)
            port = data.get(channel)
            if port is not None and payload and port.task is not None and not port.task.done():
                await put_input(port, payload)

    async def _forward(self, port: ForwardedPort) -> None:
        try:
            reader, writer = await self._dial(port.port)
            sending = asyncio.ensure_future(send_input(port, writer))
            try:
                while piece := await reader.read(PIECE):
                    await self._connection.send(port.data, piece)
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
                writer.close()
        except OSError as error:
            why = f"error forwarding port {port.port} to pod {self._pod}: {error}"
            await self._connection.send(port.error, why.encode())
