"""Many lightpeers in one process, as far as a controller sees them: they serve, and say yes.

Run as a process of its own with an address per line on standard input; it prints a line when all
of them listen. `/Recorder/Joins` tells how often anybody was asked to join.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import grpc
import grpc.aio

from quintant.wire.lightpeer import (
    HEALTH_CHECK,
    JOIN_NETWORK,
    HealthCheckResponse,
    JoinResponse,
    Serving,
)

JOINS = "/Recorder/Joins"


class Recorder(grpc.GenericRpcHandler):
    """Says yes to everything that it knows, and counts joins."""

    def __init__(self) -> None:
        self._joins = 0

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        answers = {
            HEALTH_CHECK.path: self._check,
            JOIN_NETWORK.path: self._join,
            JOINS: self._count,
        }
        answer = answers.get(details.method)
        return grpc.unary_unary_rpc_method_handler(answer) if answer else None

    async def _check(self, asked: bytes, context: Any) -> bytes:
        return HealthCheckResponse(Serving.SERVING).encode()

    async def _join(self, asked: bytes, context: Any) -> bytes:
        self._joins += 1
        return JoinResponse().encode()

    async def _count(self, asked: bytes, context: Any) -> bytes:
        return str(self._joins).encode()


async def main(addresses: list[str]) -> None:
    """Serve until killed."""
    server = grpc.aio.server(handlers=[Recorder()])
    for address in addresses:
        server.add_insecure_port(address)
    await server.start()
    print("listening", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main(sys.stdin.read().split()))
