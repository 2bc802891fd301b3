"""A contact that hands out a chain which was prepared: how peers of another make are put in order.

A peer of the original takes over, from whatever contact it is sent to, the chain and the list of
members. So a network of them that lists a member twice, or whose chains have come apart, is mended
by sending each member to one contact that has the right list and everything that any of them had.
The contact lives as long as the repair, and is no member.
"""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import grpc
import grpc.aio

from quintant.core.clock import Random
from quintant.wire.lightpeer import (
    CONNECT_NEW_PEER,
    HEALTH_CHECK,
    BlockType,
    ConnectRequest,
    HealthCheckResponse,
    Lightblock,
    Serving,
)


class PreparedContact(grpc.GenericRpcHandler):
    """Answers every peer that wants to become a member with one chain, newest block first."""

    def __init__(self, members: Sequence[str], payloads: Sequence[bytes], random: Random) -> None:
        self.blocks: list[Lightblock] = prepared_chain(members, payloads, random)
        self.announced: list[str] = []
        """The addresses that those who came say they have."""

    def service(self, details: Any) -> Any:
        if details.method == CONNECT_NEW_PEER.path:
            return grpc.unary_stream_rpc_method_handler(self._connect)
        if details.method == HEALTH_CHECK.path:
            return grpc.unary_unary_rpc_method_handler(self._check)
        return None

    async def _connect(self, request: bytes, context: Any) -> AsyncIterator[bytes]:
        peer = ConnectRequest.decode(request).peer
        self.announced.append(peer.address if peer is not None else "")
        for block in self.blocks:
            yield block.encode()

    async def _check(self, request: bytes, context: Any) -> bytes:
        return HealthCheckResponse(Serving.SERVING).encode()


def prepared_chain(
    members: Sequence[str], payloads: Sequence[bytes], random: Random
) -> list[Lightblock]:
    """A chain of payloads, oldest first, and the members on top of it; newest block first."""
    rows = json.dumps([{"Address": each} for each in members], separators=(",", ":")).encode()
    contents = [(payload, BlockType.CLIENT) for payload in payloads]
    names = ["", *(random.id() for _ in range(len(payloads) + 1))]
    linked = zip(pairwise(names), [*contents, (rows, BlockType.NETWORK)], strict=True)
    blocks = [Lightblock(name, held, before, kind) for (before, name), (held, kind) in linked]
    return blocks[::-1]


@asynccontextmanager
async def served(contact: PreparedContact, towards: str, port: int) -> AsyncIterator[str]:
    """Serve a contact where a peer can reach it; its address. OSError if that is impossible."""
    host = own_host(towards)
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    server = grpc.aio.server(handlers=[contact])
    try:
        server.add_insecure_port(address)
    except RuntimeError as error:
        raise OSError(f"cannot listen on {address}") from error
    await server.start()
    try:
        yield address
    finally:
        await server.stop(None)


def own_host(towards: str) -> str:
    """Our own address on the way to a peer; no packet is sent."""
    host, _, port = towards.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((host, int(port)))
        return str(probe.getsockname()[0])
