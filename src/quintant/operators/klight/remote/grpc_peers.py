"""What is asked of lightpeers over gRPC, each call with a deadline, in plain HTTP/2 past any proxy.

Connections that worked are kept for the next call; those that failed are thrown away, for gRPC
would not try them again for seconds.

Import it where peers are spoken to: gRPC has threads of its own, and a process that has them must
not fork, as a cluster does for every program.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import grpc.aio

from quintant.core.clock import Random
from quintant.operators.klight.plan.join_result import OK, Answer, Contents, PeerHealth
from quintant.operators.klight.plan.repair import lacking, union
from quintant.operators.klight.remote.prepared_contact import PreparedContact, served
from quintant.wire.lightpeer import (
    HEALTH_CHECK,
    JOIN_NETWORK,
    NOTIFY_NEW_BLOCK,
    PERSIST,
    QUERY,
    Asked,
    EmptyQueryRequest,
    HealthCheckRequest,
    HealthCheckResponse,
    JoinRequest,
    Lightblock,
    Method,
    PersistRequest,
    QueryResponse,
    Serving,
    Told,
)
from quintant.wire.peeradmin import (
    FAILING,
    GET_STATUS,
    LEAVE,
    TOKEN,
    LeaveRequest,
    StatusRequest,
    StatusResponse,
)
from quintant.wire.protobuf import Malformed

REASON = "klight-reason"
"""The key of the trailing metadata in which our peers say why a join failed."""
# Connections kept; the one longest unused is closed beyond it. Each costs about 12 KB, a new one
# a millisecond.
KEPT = 1024
_CHANNEL = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.keepalive_time_ms", 2**31 - 1),
    ("grpc.use_local_subchannel_pool", 1),
)
_BLANK = (("invalid parent", False), ("could not unmarshal network block", True))
"""What the original says of a block without anything: it has a chain, or none."""
_REFUSALS = (
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.PERMISSION_DENIED,
)
"""The peer itself said no."""
_NEVER_STARTED = ("http1", "HTTP/1", "Failed parsing HTTP/2", "SETTINGS frame")
"""What gRPC says of a port that speaks something else."""


class GrpcPeers:
    """Peers on the network."""

    def __init__(self, random: Random | None = None, token_file: Path | None = None) -> None:
        self._random, self._token_file = random or Random(), token_file
        self._kept: OrderedDict[str, grpc.aio.Channel] = OrderedDict()

    async def check(self, address: str, within: float) -> PeerHealth:
        """Whether the peer at an address serves."""
        try:
            raw, trailing = await self._ask(HEALTH_CHECK, address, HealthCheckRequest(), within)
            status = HealthCheckResponse.decode(raw).status
        except grpc.aio.AioRpcError as error:
            return _silence(error)
        except Malformed:
            return PeerHealth.FOREIGN
        if status != Serving.SERVING:
            return PeerHealth.NOT_SERVING
        return PeerHealth.FAILING if FAILING in trailing else PeerHealth.SERVING

    async def inspect(self, address: str, within: float) -> PeerHealth:
        """A check that also tells whether what serves is a lightpeer at all."""
        health = await self.check(address, within)
        if not health.serves:
            return health
        try:
            async with self._channel(address) as channel:
                call = _query(channel, within)
                # The first message, or the end, tells; the rest may be a long history.
                await call.read()
                call.cancel()
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                return PeerHealth.FOREIGN
        return health

    async def join(self, address: str, contact: str, within: float) -> Answer:
        """Have the peer at an address join the network of the contact."""
        return await self._told(JOIN_NETWORK, address, JoinRequest(contact), within)

    async def status(self, address: str, within: float) -> StatusResponse | None:
        """How one of our own peers is; None for any other, and for silence."""
        try:
            return StatusResponse.decode(
                await self._call(GET_STATUS, address, StatusRequest(), within)
            )
        except (grpc.aio.AioRpcError, Malformed):
            return None

    async def leave(self, address: str, reason: str, within: float) -> Answer:
        """Have one of our own peers leave its network; any other answers UNIMPLEMENTED."""
        shown = self._token()
        return await self._told(LEAVE, address, LeaveRequest(reason), within, shown)

    def _token(self) -> tuple[tuple[str, str], ...]:
        """What lets us change peers that want to see it; the file may be replaced."""
        try:
            held = self._token_file.read_text("ascii").strip() if self._token_file else ""
        except (OSError, ValueError):
            held = ""
        return ((TOKEN, held),) if held else ()

    async def contents(self, address: str, within: float) -> Contents:
        """Everything a peer has, as digests; empty if it has nothing, or does not say."""
        try:
            return tuple(
                [hashlib.sha256(each).digest() async for each in self.payloads(address, within)]
            )
        except (grpc.aio.AioRpcError, Malformed):
            return ()

    async def blank(self, address: str, within: float) -> bool | None:
        """Whether a peer of another make has no chain at all; None if it does not say.

        It is told of a block without anything: whoever has a chain says that it does not follow
        it; whoever has none would have taken it, and says that it lists no members. Neither
        changes anything.
        """
        answer = await self._told(NOTIFY_NEW_BLOCK, address, Lightblock(), within)
        if answer.code != "UNKNOWN":
            return None
        return next((told for mark, told in _BLANK if mark in answer.text), None)

    async def newest(self, address: str, within: float) -> bytes:
        """A digest of what was written last; empty if nothing was, or the peer does not say."""
        try:
            async with self._channel(address) as channel:
                call = _query(channel, within)
                async for raw in call:
                    call.cancel()
                    return hashlib.sha256(QueryResponse.decode(raw).payload).digest()
            return b""
        except (grpc.aio.AioRpcError, Malformed):
            return b""

    async def regroup(self, members: Sequence[str], port: int, within: float) -> dict[str, Answer]:
        """Give peers of another make one list of members, and everything that any of them has."""
        try:
            had = [[each async for each in self.payloads(one, within)] for one in members]
            answers, listed = await self._gather(members, members, union(had), port, within)
            if set(listed) != set(members):
                # They have other names for themselves than we have for them.
                answers, _ = await self._gather(members, listed, union(had), port, within)
        except (grpc.aio.AioRpcError, Malformed, OSError) as error:
            return dict.fromkeys(members, Answer("UNAVAILABLE", str(error)))
        return answers

    async def collect(self, contact: str, members: Sequence[str], within: float) -> Answer:
        """Have a peer keep what it lacks and others have; how that ended."""
        try:
            mine = [each async for each in self.payloads(contact, within)]
            had = [[each async for each in self.payloads(one, within)] for one in members]
        except (grpc.aio.AioRpcError, Malformed) as error:
            return Answer("UNAVAILABLE", str(error))
        for payload in lacking(mine, had):
            answer = await self.persist(contact, payload, within)
            if answer.code != OK:
                return answer
        return Answer(OK)

    async def _gather(
        self,
        members: Sequence[str],
        listed: Sequence[str],
        payloads: Sequence[bytes],
        port: int,
        within: float,
    ) -> tuple[dict[str, Answer], list[str]]:
        """Send members to a prepared contact; how it went, and what they call themselves."""
        contact = PreparedContact(listed, payloads, self._random)
        async with served(contact, members[0], port) as address:
            answers = {each: await self.join(each, address, within) for each in members}
        return answers, contact.announced

    async def payloads(self, address: str, within: float) -> AsyncIterator[bytes]:
        """Everything a peer has, newest first; gRPC's error if it does not say."""
        async with self._channel(address) as channel:
            async for raw in _query(channel, within):
                yield QueryResponse.decode(raw).payload

    async def persist(self, address: str, payload: bytes, within: float) -> Answer:
        """Have a peer, and so its network, keep something."""
        return await self._told(PERSIST, address, PersistRequest(payload), within)

    async def close(self) -> None:
        """Close the connections that were kept."""
        while self._kept:
            _, channel = self._kept.popitem()
            await channel.close()

    async def _told(
        self,
        method: Method[Asked, Told],
        address: str,
        asked: Asked,
        within: float,
        shown: Sequence[tuple[str, str]] = (),
    ) -> Answer:
        """How a call ended whose answer says no more than that."""
        try:
            await self._ask(method, address, asked, within, shown)
        except grpc.aio.AioRpcError as error:
            trailing = dict(error.trailing_metadata() or ())
            reason = str(trailing.get(REASON, ""))
            return Answer(error.code().name, error.details() or "", reason)
        return Answer(OK)

    async def _call(
        self, method: Method[Asked, Told], address: str, asked: Asked, within: float
    ) -> bytes:
        raw, _ = await self._ask(method, address, asked, within)
        return raw

    async def _ask(
        self,
        method: Method[Asked, Told],
        address: str,
        asked: Asked,
        within: float,
        shown: Sequence[tuple[str, str]] = (),
    ) -> tuple[bytes, set[str]]:
        """What a peer answers, and the keys of the metadata that come with it."""
        async with self._channel(address) as channel:
            ask: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method.path)
            call = ask(asked.encode(), timeout=within, metadata=tuple(shown))
            raw = await call
            return raw, {key for key, _ in await call.trailing_metadata() or ()}

    @asynccontextmanager
    async def _channel(self, address: str) -> AsyncIterator[grpc.aio.Channel]:
        """A connection to a peer: kept if all went well, or if the peer itself said no."""
        channel = self._kept.pop(address, None) or grpc.aio.insecure_channel(address, _CHANNEL)
        good = False
        try:
            yield channel
            good = True
        except grpc.aio.AioRpcError as error:
            good = error.code() in _REFUSALS
            raise
        finally:
            await self._keep(address, channel) if good else await channel.close()

    async def _keep(self, address: str, channel: grpc.aio.Channel) -> None:
        spare = self._kept.pop(address, None)
        self._kept[address] = channel
        if spare is None and len(self._kept) > KEPT:
            _, spare = self._kept.popitem(last=False)
        if spare is not None:
            await spare.close()


def _query(channel: grpc.aio.Channel, within: float) -> grpc.aio.UnaryStreamCall[bytes, bytes]:
    ask: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(QUERY.path)
    return ask(EmptyQueryRequest().encode(), timeout=within)


def _silence(error: grpc.aio.AioRpcError) -> PeerHealth:
    """What a failed check says of whoever is there."""
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return PeerHealth.SILENT
    text = error.details() or ""
    if error.code() is grpc.StatusCode.UNAVAILABLE:
        spoke = any(mark in text for mark in _NEVER_STARTED)
        return PeerHealth.FOREIGN if spoke else PeerHealth.REFUSED
    return PeerHealth.FOREIGN
