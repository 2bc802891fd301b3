"""A lightpeer that behaves as the original is specified to, as a process of its own.

    python -m testbeds.original_peer -repo=DIR -host=ADDRESS -port=9081

It has no order of writes, no locks and no memory of what it did: it lists whoever connects twice
twice, tells members one after another until one refuses, and looks for dead ones twice a second.
What is tried with it is tried with the real one by `make interop K=klight`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import grpc
import grpc.aio

from quintant.wire import lightpeer as wire

_OPTIONS = (("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1))
PAUSE_SECONDS = 0.5
ANSWER_SECONDS = 60
"""Long: a busy machine is no dead peer, which refuses at once."""


class OriginalPeer:
    """One peer: its head, its blocks, its list."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.listed = [address]
        self.head = wire.Lightblock()
        self.blocks: dict[str, wire.Lightblock] = {}

    def handlers(self) -> dict[str, Any]:
        """What it answers, by path."""
        unary, stream = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
        return {
            wire.HEALTH_CHECK.path: unary(self.check),
            wire.JOIN_NETWORK.path: unary(self.join),
            wire.PERSIST.path: unary(self.persist),
            wire.NOTIFY_NEW_BLOCK.path: unary(self.notify),
            wire.QUERY.path: stream(self.query),
            wire.CONNECT_NEW_PEER.path: stream(self.connect),
        }

    async def check(self, asked: bytes, context: Any) -> bytes:
        return wire.HealthCheckResponse(wire.Serving.SERVING).encode()

    async def join(self, asked: bytes, context: Any) -> bytes:
        request = wire.ConnectRequest(wire.PeerInfo(self.address))
        contact = wire.JoinRequest.decode(asked).address
        try:
            async with grpc.aio.insecure_channel(contact, _OPTIONS) as channel:
                ask: Any = channel.unary_stream(wire.CONNECT_NEW_PEER.path)
                blocks = [wire.Lightblock.decode(raw) async for raw in ask(request.encode())]
        except grpc.aio.AioRpcError as error:
            text = f"could not process block stream: rpc error: desc = {error.details()}"
            await context.abort(grpc.StatusCode.UNKNOWN, text)
        self.blocks |= {each.id: each for each in blocks}
        self.head = blocks[0]
        self.listed = _members(next(each for each in blocks if not each.type).payload)
        return b""

    async def connect(self, asked: bytes, context: Any) -> AsyncIterator[bytes]:
        peer = wire.ConnectRequest.decode(asked).peer
        assert peer is not None, "this ends the process"
        await self._relist([*self.listed, peer.address], context)
        for block in self._chain():
            yield block.encode()

    async def persist(self, asked: bytes, context: Any) -> bytes:
        block = self._block(wire.PersistRequest.decode(asked).payload, wire.BlockType.CLIENT)
        await self._announce(block, context)
        self._take(block)
        return b""

    async def query(self, asked: bytes, context: Any) -> AsyncIterator[bytes]:
        for block in self._chain():
            if block.type == wire.BlockType.CLIENT:
                yield wire.QueryResponse(block.payload).encode()

    async def notify(self, asked: bytes, context: Any) -> bytes:
        block = wire.Lightblock.decode(asked)
        if block.previous != self.head.id:
            await context.abort(grpc.StatusCode.UNKNOWN, "new block links to invalid parent")
        self._take(block)
        if block.type == wire.BlockType.NETWORK:
            try:
                self.listed = _members(block.payload)
            except ValueError as error:
                text = f"could not unmarshal network block: {error}"
                await context.abort(grpc.StatusCode.UNKNOWN, text)
        return b""

    async def tend(self) -> None:
        """Drop the dead from the list, for ever."""
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            before = list(self.listed)
            alive = [each for each in before if each == self.address or await _serves(each)]
            if len(alive) != len(before) and self.listed == before:
                self.listed = alive
                try:
                    await self._relist(alive, None)
                except Refused:
                    self.listed = before

    async def _relist(self, members: list[str], context: Any) -> None:
        rows = json.dumps([{"Address": each} for each in members]).encode()
        block = self._block(rows, wire.BlockType.NETWORK)
        await self._announce(block, context)
        self._take(block)
        self.listed = members

    async def _announce(self, block: wire.Lightblock, context: Any) -> None:
        for each in self.listed:
            if each == self.address:
                continue
            try:
                await _ask(each, wire.NOTIFY_NEW_BLOCK.path, block.encode())
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.UNKNOWN:
                    continue
                text = f"could not send new block notifications: {error.details()}"
                if context is None:
                    raise Refused from None
                await context.abort(grpc.StatusCode.UNKNOWN, text)

    def _block(self, payload: bytes, kind: wire.BlockType) -> wire.Lightblock:
        return wire.Lightblock(str(uuid.uuid4()), payload, self.head.id, kind)

    def _take(self, block: wire.Lightblock) -> None:
        self.head = self.blocks[block.id] = block

    def _chain(self) -> Iterator[wire.Lightblock]:
        block = self.head
        yield block
        while block.previous:
            block = self.blocks[block.previous]
            yield block


class Refused(Exception):
    """A member did not take a block."""


class Port(grpc.GenericRpcHandler):
    """The peer's methods, for gRPC."""

    def __init__(self, handlers: dict[str, Any]) -> None:
        self._handlers = handlers

    def service(self, details: Any) -> Any:
        return self._handlers.get(details.method)


def _members(payload: bytes) -> list[str]:
    return [each["Address"] for each in json.loads(payload)]


async def _ask(address: str, path: str, message: bytes) -> bytes:
    async with grpc.aio.insecure_channel(address, _OPTIONS) as channel:
        ask: Any = channel.unary_unary(path)
        answer: bytes = await ask(message, timeout=ANSWER_SECONDS)
        return answer


async def _serves(address: str) -> bool:
    try:
        raw = await _ask(address, wire.HEALTH_CHECK.path, wire.HealthCheckRequest().encode())
    except grpc.aio.AioRpcError:
        return False
    return bool(wire.HealthCheckResponse.decode(raw).status == wire.Serving.SERVING)


async def main() -> None:
    """Run a peer until a signal ends it."""
    flags = argparse.ArgumentParser()
    flags.add_argument("-repo")
    flags.add_argument("-host", default="127.0.0.1")
    flags.add_argument("-port", type=int, default=wire.PORT)
    chosen = flags.parse_args()
    peer = OriginalPeer(f"{chosen.host}:{chosen.port}")
    server = grpc.aio.server(handlers=[Port(peer.handlers())])
    server.add_insecure_port(f"{chosen.host}:{chosen.port}")
    await server.start()
    await peer.tend()


if __name__ == "__main__":
    asyncio.run(main())
