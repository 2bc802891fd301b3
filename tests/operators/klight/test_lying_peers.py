"""Peers that lie on the wire: every call ends in an answer, in its time, within bounded memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import grpc
import grpc.aio
import pytest

from quintant.operators.klight.observed.answers import Answer, PeerHealth
from quintant.operators.klight.remote import grpc_peers
from quintant.operators.klight.remote.grpc_peers import GrpcPeers
from quintant.wire.lightpeer import HealthCheckResponse, QueryResponse, Serving
from quintant.wire.peeradmin import Member, StatusResponse
from testbeds.liars import Manner, lie

pytestmark = pytest.mark.realtime

WITHIN = 0.3
SEEDS = 40
TRUTHS = {
    "Check": HealthCheckResponse(Serving.SERVING).encode(),
    "GetStatus": StatusResponse("a:1", head="h", height=2**62, members=(Member("b:1"),)).encode(),
    "Query": QueryResponse(b"payload").encode(),
}
CODES = [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK]


class Liar(grpc.GenericRpcHandler):
    """A peer whose every answer is the lie of a seed."""

    def __init__(self, seed: int) -> None:
        self._seed, self._chance = seed, Random(seed)

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        name = details.method.rpartition("/")[2]
        truth = TRUTHS.get(name, b"")

        async def answer(_: bytes, context: Any) -> bytes:
            return await self._lie(truth, context)

        async def stream(_: bytes, context: Any) -> AsyncIterator[bytes]:
            for _number in range(self._chance.randrange(5)):
                yield await self._lie(truth, context)

        if name == "Query":
            return grpc.unary_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(answer)

    async def _lie(self, truth: bytes, context: Any) -> bytes:
        self._seed += 7
        told = lie(self._seed, truth)
        context.set_trailing_metadata((("klight-failing", "x" * 2_000), ("klight-reason", "y")))
        if told.manner in (Manner.SLOW, Manner.SILENT):
            await asyncio.sleep(WITHIN * 2)
        if told.manner is not Manner.WHOLE:
            await context.abort(self._chance.choice(CODES), "\x1b[2J" * 500)
        return told.body


@asynccontextmanager
async def listening(handler: grpc.GenericRpcHandler) -> AsyncIterator[str]:
    server = grpc.aio.server(handlers=[handler])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_every_call_to_a_liar_ends_in_an_answer(seed: int) -> None:
    peers = GrpcPeers()
    async with listening(Liar(seed)) as address:
        assert isinstance(await peers.check(address, WITHIN), PeerHealth)
        assert isinstance(await peers.inspect(address, WITHIN), PeerHealth)
        assert isinstance(await peers.status(address, WITHIN), StatusResponse | None)
        assert isinstance(await peers.contents(address, WITHIN), tuple)
        assert isinstance(await peers.newest(address, WITHIN), bytes)
        assert await peers.blank(address, WITHIN) in (True, False, None)
        assert isinstance(await peers.join(address, "b:1", WITHIN), Answer)
        assert isinstance(await peers.leave(address, "over", WITHIN), Answer)
        assert isinstance(await peers.collect(address, [address], WITHIN), Answer)
    await peers.close()


class Endless(grpc.GenericRpcHandler):
    """A peer with a chain that never ends."""

    def __init__(self) -> None:
        self.sent = 0

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        async def stream(_: bytes, context: Any) -> AsyncIterator[bytes]:
            while True:
                self.sent += 1
                yield QueryResponse(b"x" * 1_000_000).encode()

        return grpc.unary_stream_rpc_method_handler(stream)


async def test_a_chain_that_never_ends_is_given_up() -> None:
    peers, endless = GrpcPeers(), Endless()
    async with listening(endless) as address:
        assert await peers.contents(address, 60) == ()
        assert endless.sent < 2 * grpc_peers.MOST_BYTES / 1_000_000
        answer = await peers.collect(address, [address, address], 60)
        assert answer.code == "UNAVAILABLE"
        assert "bytes" in answer.text
    await peers.close()
