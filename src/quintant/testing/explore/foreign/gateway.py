"""HTTPS on loopback before the server: every request and event of a program passes here.

Each life of the program has a client certificate of its own: what a dead one still sends is not let
in. Bodies come whole before anything is done with them. What is answered is JSON, uncompressed, so
that it can be read on the way.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from msgspec import DecodeError, Struct
from msgspec.structs import replace

from quintant.client.request_info import ResourcePath, resource_path, verb_of
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.meta.status import REQUEST_LIMIT
from quintant.cluster.apiserver.meta.user import AUTHENTICATED, MASTERS, User
from quintant.cluster.apiserver.server.https import (
    LIMITS,
    LOOPBACK,
    ConnectionPeers,
    HttpResponse,
    read_call,
)
from quintant.cluster.instance.kubeconfig import kubeconfig
from quintant.cluster.instance.pki import LIFE, ClusterKeys, Pki, issue_certificates
from quintant.core.address import BindAddress
from quintant.core.clock import monotonic
from quintant.core.errors import TransportError
from quintant.http.connection import Disconnected
from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse
from quintant.keys.authority import Validity
from quintant.keys.sensitive import Sensitive
from quintant.runtime.observe.listen import listen
from quintant.testing.explore.foreign.points import (
    EVENTS,
    LEASES,
    is_election,
    is_point,
    written_names,
)
from quintant.testing.explore.foreign.program import ProgramLife
from quintant.testing.explore.foreign.servers.world_server import WorldServer
from quintant.testing.explore.injection.process import READS, Disturbance, decode_event
from quintant.testing.explore.injection.subjects import table_of

JSON_TYPES = ("json", "*/*", "yaml", "text/plain")
_HOLDER = re.compile(rb'holderIdentity\\?":\s*\\?"([\x20-\x7e]+?)\\?"')
"""Who says in a lock that it is his, also in the text of an annotation."""
_NO_OBJECT = frozenset(("BOOKMARK", "ERROR"))
_PROTECTED = EVENTS | {LEASES}


class OpenWatch(Struct, eq=False):
    """A watch that a program has open."""

    life: ProgramLife
    signature: str
    """What is watched: path and selectors."""
    idle: bool = False
    """Whether everything that there was has been passed on."""


class Gateway:
    """The way of all lives of a program to the server."""

    def __init__(
        self,
        server: WorldServer,
        disturbance: Disturbance,
        keys: ClusterKeys,
        now: datetime,
        active: Callable[[str, ResourcePath], None],
    ) -> None:
        """`active` is called with what a program does, whenever it writes."""
        self._server, self._peer = server, ConnectionPeers().find
        self._disturbance, self._keys = disturbance, keys
        self._active = active
        self._term = Validity(now - timedelta(days=1), now + LIFE)
        self._lives: dict[str, ProgramLife] = {}
        self._url = ""
        self.watches: set[OpenWatch] = set()
        """Everything that is watched now."""
        self.opened: dict[tuple[int, str], float] = {}
        """When a life began each of its watches, for the first time."""
        self.requests: int = 0
        """How many came."""
        self.agents: Counter[str] = Counter()
        """How clients call themselves."""
        self.refusals: Counter[str] = Counter()
        """Writes that were answered with 409 or 404 since all was quiet."""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Listen for as long as the context lasts."""
        pki = issue_certificates(self._keys, (LOOPBACK,), self._term.since + timedelta(days=1))
        # A loop that runs faster has as many more seconds in each of the machine's.
        limits = replace(LIMITS, idle_seconds=86_400.0, first_seconds=3_600.0, head_seconds=3_600.0)
        anywhere = BindAddress(LOOPBACK, 0)
        listening = listen(self.handle, anywhere, pki.context(), limits=limits, goodbye=0.0)
        async with listening as address:
            self._url = f"https://{address}"
            yield

    def admit(self, life: ProgramLife) -> Sensitive[bytes]:
        """The kubeconfig of a life, with a certificate of its own."""
        self._lives[life.user] = life
        pair = self._keys.authority.client(life.user, [MASTERS], self._term)
        return kubeconfig(self._url, Pki(self._keys.authority.certificate, pair, pair))

    async def send(self, life: ProgramLife, call: ApiRequest) -> ApiResponse:
        """Bring a write of a life to the server."""
        return await self._server.write(call, User(life.user, (MASTERS,)).among(AUTHENTICATED))

    async def handle(self, request: Request) -> HttpResponse:
        """Answer a request, or do to it what is to be done."""
        user = self._peer(request.connection)
        life = self._lives.get(user.name) if user is not None else None
        if life is None:
            return await self._server.turn_away(request)
        if not life.alive:
            raise self._broken(request)
        life.connections.add(request.connection)
        self.requests += 1
        call = plain_call(read_call(request))
        self.agents[call.headers.get("user-agent", "")] += 1
        try:
            return await self._answer(life, call, request)
        except (TransportError, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            raise self._broken(request) from None

    def _broken(self, request: Request) -> Disconnected:
        request.connection.abort()
        return Disconnected()

    async def _answer(self, life: ProgramLife, call: ApiRequest, request: Request) -> HttpResponse:
        await life.reachable()
        at, verb = resource_path(call.path), verb_of(call)
        if verb == "watch" and at.plural:
            return await self._watch(life, call, at, request)
        life.in_flight += 1
        try:
            if verb in READS or not at.plural:
                return await self._read(life, call, request)
            return await self._write(life, call, at, request)
        finally:
            life.in_flight -= 1

    async def _read(self, life: ProgramLife, call: ApiRequest, request: Request) -> HttpResponse:
        response = await self._server.answer(self._disturbance.read(life, call), request)
        life.check()
        await life.reachable()
        if isinstance(response, Response):
            self._disturbance.saw(life, response.body)
        elif isinstance(response, StreamingResponse):
            return replace(response, pieces=self._read_on(life, response.pieces))
        return response

    async def _write(
        self, life: ProgramLife, call: ApiRequest, at: ResourcePath, request: Request
    ) -> HttpResponse:
        if at.sub in ("exec", "attach", "portforward", "proxy"):
            return await self._server.answer(call, request)
        body = await request.body(REQUEST_LIMIT)
        call = replace(call, body=body)
        if is_election(call, at):
            name = at.name or written_names(body).name
            life.elections.add(ResourcePath(at.group, at.version, at.namespace, at.plural, name))
            life.identities.update(each.decode() for each in _HOLDER.findall(body))
        if not is_point(call, at):
            reply = await life.inner.request(call)
        else:
            reply = await self._disturbance.write(life, call)
            if reply.status in (404, 409):
                self.refusals[f"{verb_of(call)} {call.path} is answered with {reply.status}"] += 1
            self._active(verb_of(call), at)
        life.check()
        await life.reachable()
        self._disturbance.saw(life, reply.body)
        return Response(reply.status, reply.headers, reply.body)

    async def _watch(
        self, life: ProgramLife, call: ApiRequest, at: ResourcePath, request: Request
    ) -> HttpResponse:
        refusal = self._disturbance.refusal(life, call)
        if refusal is not None:
            return Response(refusal.status, refusal.headers, refusal.body)
        response = await self._server.answer(call, request)
        if not isinstance(response, StreamingResponse):
            return response
        watch = OpenWatch(life, signature(call))
        self.watches.add(watch)
        self.opened.setdefault((life.number, watch.signature), monotonic())

        def close(original: Callable[[], None] = response.on_close) -> None:
            self.watches.discard(watch)
            original()

        pieces = self._deliver(watch, call, at, response.pieces)
        return replace(response, pieces=pieces, on_close=close)

    async def _deliver(
        self,
        watch: OpenWatch,
        call: ApiRequest,
        at: ResourcePath,
        pieces: AsyncGenerator[bytes, None],
    ) -> AsyncGenerator[bytes, None]:
        life, initial = watch.life, "sendInitialEvents" in call.query
        source = aiter(pieces)
        try:
            while True:
                watch.idle = True
                piece = await anext(source, b"")
                watch.idle = False
                if not piece:
                    return
                for line in piece.splitlines(keepends=True):
                    initial = await self._deliver_line(life, at, line, initial)
                yield piece
        except TransportError:
            raise Disconnected from None
        finally:
            self.watches.discard(watch)
            await pieces.aclose()

    async def _deliver_line(
        self, life: ProgramLife, at: ResourcePath, line: bytes, initial: bool
    ) -> bool:
        """Pass an event on; whether the initial ones go on."""
        try:
            event = decode_event(line)
        except DecodeError:
            return initial
        if event.type == "BOOKMARK":
            initial = False
        if event.type not in _NO_OBJECT and not initial and not _is_beside(at, line):
            await self._disturbance.deliver(life, at, event)
        if not life.alive:
            raise Disconnected
        await life.reachable()
        self._disturbance.saw(life, line)
        return initial

    async def _read_on(
        self, life: ProgramLife, pieces: AsyncGenerator[bytes, None]
    ) -> AsyncGenerator[bytes, None]:
        try:
            async for piece in pieces:
                self._disturbance.saw(life, piece)
                yield piece
        finally:
            await pieces.aclose()


def _is_beside(at: ResourcePath, line: bytes) -> bool:
    """Whether an event is about what goes on beside the work."""
    return table_of(at) in _PROTECTED or b"control-plane.alpha.kubernetes.io/leader" in line


def signature(call: ApiRequest) -> str:
    """What a watch is about."""
    selectors = [call.query.get(name, "") for name in ("labelSelector", "fieldSelector")]
    return " ".join([call.path, *filter(None, selectors)])


def plain_call(call: ApiRequest) -> ApiRequest:
    """A call whose answer can be read on its way: JSON, and not compressed."""
    headers = {key: value for key, value in call.headers.items() if key != "accept-encoding"}
    accepted = [part.strip() for part in headers.get("accept", "*/*").split(",")]
    kept = [part for part in accepted if any(known in part for known in JSON_TYPES)]
    headers["accept"] = ",".join(kept) or "application/json"
    return replace(call, headers=headers)
