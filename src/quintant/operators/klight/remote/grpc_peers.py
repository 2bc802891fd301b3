"""What is asked of lightpeers over gRPC, each call with a deadline, in plain HTTP/2 past any proxy.

Import it where peers are spoken to: gRPC has threads of its own, and a process that has them must
not fork, as a cluster does for every program.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import grpc
import grpc.aio

from quintant.core.clock import Random
from quintant.operators.klight.observed.answers import OK, Answer, Contents, PeerHealth
from quintant.operators.klight.plan.parts import lacking, union
from quintant.operators.klight.remote.grpc_channels import GrpcChannels
from quintant.operators.klight.remote.prepared_contact import PreparedContact, served
from quintant.wire.lightpeer import (
    HEALTH_CHECK,
    JOIN_NETWORK,
    NOTIFY_NEW_BLOCK,
    PERSIST,
    QUERY,
    EmptyQueryRequest,
    HealthCheckRequest,
    HealthCheckResponse,
    JoinRequest,
    Lightblock,
    Method,
    PersistRequest,
    QueryResponse,
    RequestMessage,
    ResponseMessage,
    Serving,
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
# Of the chains that are read for one repair, all together; more would end the process, which has
# 256 MiB. A block counts for no less than it takes in memory.
MOST_BYTES = 96 * 1024 * 1024
_BLOCK_BYTES = 128
_BLANK = (("invalid parent", False), ("could not unmarshal network block", True))
"""What the original says of a block without anything: it has a chain, or none."""
_NEVER_STARTED = ("http1", "HTTP/1", "Failed parsing HTTP/2", "SETTINGS frame")
"""What gRPC says of a port that speaks something else."""


class GrpcPeers:
    """Peers on the network."""

    def __init__(self, random: Random | None = None, token_file: Path | None = None) -> None:
        self._random, self._token_file = random or Random(), token_file
        self._channels = GrpcChannels()

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
            async with self._channels.use(address) as channel:
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
        return await self._answered(JOIN_NETWORK, address, JoinRequest(contact), within)

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
        metadata = self._token()
        return await self._answered(LEAVE, address, LeaveRequest(reason), within, metadata)

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

        It is sent a block without anything: one that has a chain answers that it does not follow
        it; one that has none would have taken it, and answers that it lists no members. Neither
        changes anything.
        """
        answer = await self._answered(NOTIFY_NEW_BLOCK, address, Lightblock(), within)
        if answer.code != "UNKNOWN":
            return None
        return next((is_blank for mark, is_blank in _BLANK if mark in answer.text), None)

    async def newest(self, address: str, within: float) -> bytes:
        """A digest of what was written last; empty if nothing was, or the peer does not say."""
        try:
            async with self._channels.use(address) as channel:
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
            had = await self._chains(members, within)
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
            mine, *had = await self._chains((contact, *members), within)
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

    async def _chains(self, members: Sequence[str], within: float) -> list[list[bytes]]:
        """Everything that each of some peers has, if all of it together can be held."""
        had, left = list[list[bytes]](), MOST_BYTES
        for one in members:
            had.append([each async for each in self.payloads(one, within, left)])
            left -= sum(map(_held, had[-1]))
        return had

    async def payloads(
        self, address: str, within: float, most: int = MOST_BYTES
    ) -> AsyncIterator[bytes]:
        """Everything a peer has, newest first; gRPC's error if it does not say.

        Malformed if it is more than `most` bytes: a chain need not have an end.
        """
        async with self._channels.use(address) as channel:
            call = _query(channel, within)
            async for raw in call:
                payload = QueryResponse.decode(raw).payload
                most -= _held(payload)
                if most < 0:
                    call.cancel()
                    raise Malformed(f"more than {MOST_BYTES} bytes")
                yield payload

    async def persist(self, address: str, payload: bytes, within: float) -> Answer:
        """Have a peer, and so its network, keep something."""
        return await self._answered(PERSIST, address, PersistRequest(payload), within)

    async def close(self) -> None:
        """Close the connections that were kept."""
        await self._channels.close()

    async def _answered(
        self,
        method: Method[RequestMessage, ResponseMessage],
        address: str,
        request: RequestMessage,
        within: float,
        metadata: Sequence[tuple[str, str]] = (),
    ) -> Answer:
        """How a call ended whose answer says no more than that."""
        try:
            await self._ask(method, address, request, within, metadata)
        except grpc.aio.AioRpcError as error:
            trailing = dict(error.trailing_metadata() or ())
            reason = str(trailing.get(REASON, ""))
            return Answer(error.code().name, error.details() or "", reason)
        return Answer(OK)

    async def _call(
        self,
        method: Method[RequestMessage, ResponseMessage],
        address: str,
        request: RequestMessage,
        within: float,
    ) -> bytes:
        raw, _ = await self._ask(method, address, request, within)
        return raw

    async def _ask(
        self,
        method: Method[RequestMessage, ResponseMessage],
        address: str,
        request: RequestMessage,
        within: float,
        metadata: Sequence[tuple[str, str]] = (),
    ) -> tuple[bytes, set[str]]:
        """What a peer answers, and the keys of the metadata that come with it."""
        async with self._channels.use(address) as channel:
            ask: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method.path)
            call = ask(request.encode(), timeout=within, metadata=tuple(metadata))
            raw = await call
            return raw, {key for key, _ in await call.trailing_metadata() or ()}


def _query(channel: grpc.aio.Channel, within: float) -> grpc.aio.UnaryStreamCall[bytes, bytes]:
    ask: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(QUERY.path)
    return ask(EmptyQueryRequest().encode(), timeout=within)


def _held(payload: bytes) -> int:
    return len(payload) + _BLOCK_BYTES


def _silence(error: grpc.aio.AioRpcError) -> PeerHealth:
    """What a failed check says of what is there."""
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return PeerHealth.SILENT
    text = error.details() or ""
    if error.code() is grpc.StatusCode.UNAVAILABLE:
        spoke = any(mark in text for mark in _NEVER_STARTED)
        return PeerHealth.FOREIGN if spoke else PeerHealth.REFUSED
    return PeerHealth.FOREIGN
