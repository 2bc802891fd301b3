"""A lightpeer of another make, as strict and as careless as the first one was."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable
from typing import Any
from uuid import UUID

from quintant.agents.lightpeer.chain.block import payload_of
from quintant.agents.lightpeer.rpc.calls import Call, Code, Failed, Reply, Route
from quintant.wire import lightpeer as wire
from unit.agents.lightpeer.peer_network import AnsweringHost, Wire


class OtherPeer(AnsweringHost):
    """A host with such a peer. It crashes where the first one did."""

    peer: Any

    def open(self) -> None:
        """Start with nothing."""
        self.peer = self
        self.list = [wire.PeerInfo(self.address)]
        self.head = ""
        self.blocks: dict[str, wire.Lightblock] = {}
        runs: Iterable[tuple[Any, Any]] = (
            (wire.JOIN_NETWORK, self.join),
            (wire.CONNECT_NEW_PEER, self.connect),
            (wire.PERSIST, self.persist),
            (wire.QUERY, self.query),
            (wire.NOTIFY_NEW_BLOCK, self.notify),
            (wire.HEALTH_CHECK, self.check),
        )
        self.routes = {method.path: Route(method, run) for method, run in runs}

    async def crash(self) -> None:
        self.peer = None

    async def check(self, asked: Any, call: Call) -> Reply[Any]:
        return Reply(wire.HealthCheckResponse(wire.Serving.SERVING))

    async def notify(self, block: wire.Lightblock, call: Call) -> Reply[Any]:
        if block.previous != self.head:
            raise Failed(Code.UNKNOWN, "new block links to invalid parent")
        self._take(block)
        return Reply(wire.NewBlockResponse())

    async def persist(self, asked: wire.PersistRequest, call: Call) -> Reply[Any]:
        block = self._block(asked.payload, wire.BlockType.CLIENT)
        await self._announce(block)
        self._take(block)
        return Reply(wire.PersistResponse())

    async def query(self, asked: Any, call: Call) -> AsyncGenerator[Any, None]:
        for block in self._walk():
            if block.type == wire.BlockType.CLIENT:
                yield wire.QueryResponse(block.payload)

    async def join(self, asked: wire.JoinRequest, call: Call) -> Reply[Any]:
        request = wire.ConnectRequest(wire.PeerInfo(self.address))
        stream = Wire(self).stream(
            asked.address, wire.CONNECT_NEW_PEER, request, seconds=10, metadata={}
        )
        blocks = [each async for each in stream]
        self.head = blocks[0].id
        self.blocks |= {each.id: each for each in blocks}
        self.list = self._members(next(each for each in blocks if each.type == 0))
        return Reply(wire.JoinResponse())

    async def connect(self, asked: wire.ConnectRequest, call: Call) -> AsyncGenerator[Any, None]:
        assert asked.peer is not None, "this ends the process"
        block = self._block(payload_of([*self.list, asked.peer]), wire.BlockType.NETWORK)
        await self._announce(block)
        self._take(block)
        for each in self._walk():
            yield each

    async def _announce(self, block: wire.Lightblock) -> None:
        for member in self.list:
            if member.address == self.address:
                continue
            try:
                await Wire(self).ask(
                    member.address, wire.NOTIFY_NEW_BLOCK, block, seconds=20, metadata={}
                )
            except Failed as failure:
                if failure.code == Code.UNKNOWN:
                    raise

    def _block(self, payload: bytes, kind: wire.BlockType) -> wire.Lightblock:
        identity = str(UUID(int=self.network.chance.getrandbits(128), version=4))
        return wire.Lightblock(identity, payload, self.head, kind)

    def _take(self, block: wire.Lightblock) -> None:
        self.blocks[block.id], self.head = block, block.id
        if block.type == wire.BlockType.NETWORK:
            self.list = self._members(block)

    def _members(self, block: wire.Lightblock) -> list[wire.PeerInfo]:
        return [wire.PeerInfo(each["Address"]) for each in json.loads(block.payload)]

    def _walk(self) -> Iterable[wire.Lightblock]:
        at = self.head
        while at:
            yield self.blocks[at]
            at = self.blocks[at].previous
