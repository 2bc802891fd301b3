"""CoreDNS ServeDNS: answers queries about the zone, over UDP and TCP at one port.

An answer that does not fit into a datagram is cut, and the client asks again over TCP. What is no
question is answered with a refusal, or, where not even that can be said, not at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

from msgspec import Struct

from quintant.agents.dns.message import (
    DnsResponse,
    MalformedMessage,
    ResponseCode,
    encode_error,
    encode_response,
    read_query,
)
from quintant.cluster.host.loopback import HOST
from quintant.cluster.kubeproxy.dns.zone import Zone
from quintant.cluster.kubeproxy.ports import port_unavailable
from quintant.cluster.kubeproxy.routes import RealServer

IDLE_SECONDS = 10.0
"""How long a TCP connection may be silent."""
PORT_ATTEMPTS = 20
"""Ports tried until one is free for UDP and TCP alike."""


@asynccontextmanager
async def serve_dns(zone: Zone) -> AsyncIterator[RealServer]:
    """Answer questions for as long as the context lasts; where they can be asked."""
    async with AsyncExitStack() as stack:
        yield await _opened(zone, stack)


async def _opened(zone: Zone, stack: AsyncExitStack) -> RealServer:
    loop = asyncio.get_running_loop()
    for left in reversed(range(PORT_ATTEMPTS)):
        datagrams, _ = await loop.create_datagram_endpoint(
            lambda: _Datagrams(zone), local_addr=(HOST, 0)
        )
        address = RealServer(*datagrams.get_extra_info("sockname")[:2])
        try:
            server = await asyncio.start_server(_Streams(zone).serve, *address)
        except OSError as error:
            datagrams.close()
            if not left or not port_unavailable(error):
                raise
        else:
            stack.callback(datagrams.close)
            stack.callback(server.close)
            return address
    raise AssertionError("the last attempt returns or raises")


def answer_message(zone: Zone, raw: bytes, *, datagram: bool) -> bytes:
    """The answer to a message, as bytes."""
    try:
        query = read_query(raw)
    except MalformedMessage:
        return encode_error(raw, ResponseCode.MALFORMED)
    answer = zone.answer(query.question)
    made = encode_response(query, answer)
    if datagram and len(made) > query.limit:
        return encode_response(query, DnsResponse(answer.code, truncated=True))
    return made


class _Datagrams(asyncio.DatagramProtocol):
    """Questions over UDP."""

    def __init__(self, zone: Zone) -> None:
        self._zone = zone

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        self._transport.sendto(answer_message(self._zone, data, datagram=True), addr)


class _Streams(Struct, frozen=True):
    """Questions over TCP, one after the other."""

    zone: Zone

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                while True:
                    size = int.from_bytes(await reader.readexactly(2), "big")
                    made = answer_message(self.zone, await reader.readexactly(size), datagram=False)
                    writer.write(len(made).to_bytes(2, "big") + made)
                    await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
