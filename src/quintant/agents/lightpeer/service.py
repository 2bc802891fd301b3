"""The methods a peer offers on its port: Lightpeer, Health, and PeerAdmin for peers of ours."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator

from quintant.agents.lightpeer.peer import Peer
from quintant.agents.lightpeer.rpc.calls import Call, Code, Failed, Reply, Route
from quintant.agents.lightpeer.rpc.guard import Guard
from quintant.version import QUINTANT
from quintant.wire import lightpeer as wire
from quintant.wire import peeradmin as admin

WATCH_SECONDS = 0.5
"""How late a watcher may learn that the health has changed."""
_NETWORK = re.compile(r"[A-Za-z0-9._*/-]{0,320}")
"""A namespace, a slash and a label's value; it travels in metadata, so nothing else will do."""


class LightpeerService:
    """Answers requests with a peer."""

    def __init__(self, peer: Peer, guard: Guard) -> None:
        self.peer = peer
        self._guard = guard

    def routes(self) -> tuple[Route, ...]:
        """Every method."""
        return (
            Route(wire.JOIN_NETWORK, self.join),
            Route(wire.CONNECT_NEW_PEER, self.connect),
            Route(wire.PERSIST, self.persist),
            Route(wire.QUERY, self.query),
            Route(wire.NOTIFY_NEW_BLOCK, self.notify),
            Route(wire.HEALTH_CHECK, self.check),
            Route(wire.HEALTH_WATCH, self.watch),
            Route(admin.GET_STATUS, self.status),
            Route(admin.SET_NETWORK, self.network),
            Route(admin.GET_BLOCKS, self.blocks),
            Route(admin.TAKE_BLOCKS, self.take),
            Route(admin.LEAVE, self.leave),
        )

    async def join(self, request: wire.JoinRequest, call: Call) -> Reply[wire.JoinResponse]:
        await self.peer.join(request.address)
        return Reply(wire.JoinResponse())

    async def connect(
        self, request: wire.ConnectRequest, call: Call
    ) -> AsyncGenerator[wire.Lightblock, None]:
        async for block in self.peer.connect(request, call):
            yield block

    async def persist(
        self, request: wire.PersistRequest, call: Call
    ) -> Reply[wire.PersistResponse]:
        await self.peer.persist(request.payload, call.seconds)
        return Reply(wire.PersistResponse())

    async def query(
        self, request: wire.EmptyQueryRequest, call: Call
    ) -> AsyncGenerator[wire.QueryResponse, None]:
        async for payload in self.peer.query(call):
            yield wire.QueryResponse(payload)

    async def notify(self, request: wire.Lightblock, call: Call) -> Reply[wire.NewBlockResponse]:
        response = wire.NewBlockResponse(await self.peer.notify(request, call))
        return Reply(response, self.peer.store.card.metadata())

    async def check(
        self, request: wire.HealthCheckRequest, call: Call
    ) -> Reply[wire.HealthCheckResponse]:
        self.peer.membership.hear(call.card)
        last, card = self.peer.ordering.last, self.peer.store.card.metadata()
        failing = {admin.FAILING: "yes"} if last is not None and last[1] else {}
        return Reply(wire.HealthCheckResponse(self._health), {**card, **failing})

    async def watch(
        self, request: wire.HealthCheckRequest, call: Call
    ) -> AsyncGenerator[wire.HealthCheckResponse, None]:
        sent = None
        while not (sent is not None and self.peer.leaving):
            if sent != self._health:
                sent = self._health
                yield wire.HealthCheckResponse(sent)
            await asyncio.sleep(WATCH_SECONDS)

    async def status(self, request: admin.StatusRequest, call: Call) -> Reply[admin.StatusResponse]:
        return Reply(self._status())

    async def network(
        self, request: admin.NetworkRequest, call: Call
    ) -> Reply[admin.StatusResponse]:
        self._guard.check(call)
        if _NETWORK.fullmatch(request.network) is None:
            raise Failed(Code.INVALID_ARGUMENT, "the network is not named namespace/id")
        await self.peer.store.call(request.network)
        return Reply(self._status())

    async def blocks(
        self, request: admin.BlocksRequest, call: Call
    ) -> AsyncGenerator[wire.Lightblock, None]:
        async for block in self.peer.blocks(request):
            yield block

    async def take(self, request: admin.TakeRequest, call: Call) -> Reply[admin.TakeResponse]:
        await self.peer.take(request.blocks, call)
        return Reply(admin.TakeResponse(), self.peer.store.card.metadata())

    async def leave(self, request: admin.LeaveRequest, call: Call) -> Reply[admin.StatusResponse]:
        self._guard.check(call)
        await self.peer.reset()
        return Reply(self._status())

    @property
    def _health(self) -> int:
        return wire.Serving.SERVING if self.peer.serving else wire.Serving.NOT_SERVING

    def _status(self) -> admin.StatusResponse:
        peer, store = self.peer, self.peer.store
        return admin.StatusResponse(
            address=store.me.address,
            name=store.me.name,
            network=store.network,
            head=store.chain.head,
            height=len(store.chain),
            clients=store.chain.clients,
            members=tuple(map(self._member, store.members)),
            incarnation=peer.incarnation,
            started=_timestamp(peer.started),
            version=QUINTANT,
            calls=peer.dial.calls,
            order=self._order(),
            damage=store.damage.shown,
        )

    def _member(self, member: wire.PeerInfo) -> admin.Member:
        membership = self.peer.membership
        seen = membership.last_seen.get(member.address)
        moment = self._moment(seen) if seen is not None else None
        state = membership.state(member.address)
        return admin.Member(member.address, member.name, state, moment)

    def _order(self) -> admin.LastOrder | None:
        last = self.peer.ordering.last
        return admin.LastOrder(self._moment(last[0]), last[1]) if last is not None else None

    def _moment(self, at: float) -> wire.Timestamp:
        """The time of day at a time of the loop."""
        return _timestamp(self.peer.now() - (asyncio.get_running_loop().time() - at))


def _timestamp(seconds: float) -> wire.Timestamp:
    whole = int(seconds)
    return wire.Timestamp(whole, int((seconds - whole) * 1_000_000_000))
