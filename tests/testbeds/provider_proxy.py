"""A proxy before Infrastructure Manager that treats requests badly, and counts what went through.

    async with ProviderProxy.before(manager.url) as proxy:
        fault = proxy.inject(Fault(FaultKind.LOSE_ANSWER, when=is_create, times=1))
        ...                              # talk to proxy.url
        await fault.applied.wait()       # IM has done it; its answer never came
        assert proxy.creates == 1        # creates that reached IM, dry runs not counted
        await proxy.refuse()             # nobody listens any more, until proxy.listen()

The first fault that fits a request is taken. Without one, requests and answers pass as they are,
Host included: IM makes URLs of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Self

from aiohttp import ClientSession, ClientTimeout, web
from yarl import URL

NOT_FOUND_PAGE = b"<html><head><title>404 Not Found</title></head><body>nginx</body></html>"
LARGEST_BODY = 64 * 1024 * 1024
# Of one connection, not of a message: they are not passed on.
_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "upgrade"})

When = Callable[[web.Request], bool]


class FaultKind(Enum):
    """What may happen to a request."""

    ANSWER = "something else answers; IM never sees it"
    HANG = "nothing answers; IM never sees it"
    LOSE_ANSWER = "IM does it, and its answer is lost"
    LATE_ANSWER = "IM does it, and its answer waits until it is released"
    CUT = "IM gets it, and the connection ends before it is done"


def anything(_: web.Request) -> bool:
    """Every request."""
    return True


def is_create(request: web.Request) -> bool:
    """A POST that makes an infrastructure; a dry run does not."""
    dry = request.query.get("dry_run", "").lower() in ("1", "yes", "true")
    return request.method == "POST" and request.path.rstrip("/") == "/infrastructures" and not dry


def is_update(request: web.Request) -> bool:
    """A POST that changes an infrastructure."""
    parts = request.path.strip("/").split("/")
    return request.method == "POST" and parts[:1] == ["infrastructures"] and len(parts) == 2


def is_delete(request: web.Request) -> bool:
    """A DELETE of anything."""
    return request.method == "DELETE"


@dataclass
class Fault:
    """What happens to the requests that it fits."""

    kind: FaultKind
    when: When = anything
    times: int | None = None
    """How often; for ever if that is not said."""
    status: int = 503
    body: bytes = b"no healthy upstream"
    content_type: str = "text/plain"
    """Of what answers instead of IM."""
    met: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it has met a request."""
    applied: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when IM has done such a request."""
    release: asyncio.Event = field(default_factory=asyncio.Event)
    """Set it to let go of what hangs or is late."""

    @classmethod
    def answers(
        cls, status: int, body: bytes = b"no healthy upstream", content_type: str = "text/plain"
    ) -> Fault:
        """Something that is not IM answers everything, as a gateway does."""
        return cls(FaultKind.ANSWER, status=status, body=body, content_type=content_type)

    @classmethod
    def html_not_found(cls) -> Fault:
        """A gateway that lost its route answers 404 with a page."""
        return cls.answers(404, NOT_FOUND_PAGE, "text/html")


@dataclass(frozen=True)
class PassedRequest:
    """A request that reached IM, and how IM answered."""

    method: str
    path: str
    query: str
    status: int


class ProviderProxy:
    """The proxy, at `url`."""

    def __init__(self, upstream: str, session: ClientSession) -> None:
        self._upstream, self._session = upstream, session
        self._faults: list[Fault] = []
        self._runner: web.AppRunner | None = None
        self._port = 0
        self._cuts: set[asyncio.Task[web.Response]] = set()
        self.passed: list[PassedRequest] = []
        """What reached IM, in the order of its answers."""
        self.created: list[str] = []
        """The infrastructures that IM made, also those whose answers were lost."""
        self.asked = 0
        """Every request, also those that never reached IM."""

    @classmethod
    @asynccontextmanager
    async def before(cls, upstream: str) -> AsyncIterator[Self]:
        """A proxy before the server at a URL, on a port of its own, as long as the context."""
        async with ClientSession(timeout=ClientTimeout(None), auto_decompress=False) as session:
            proxy = cls(upstream, session)
            await proxy.listen()
            try:
                yield proxy
            finally:
                proxy.heal()
                await proxy.refuse()
                await asyncio.gather(*proxy._cuts, return_exceptions=True)

    @property
    def url(self) -> str:
        """Where it listens, also while it refuses."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def creates(self) -> int:
        """How many infrastructures IM was asked to make."""
        return sum(each.method == "POST" and each.path == "/infrastructures" for each in self._real)

    @property
    def updates(self) -> int:
        """How often IM was asked to change an infrastructure."""
        paths = [each.path.strip("/").split("/") for each in self._real if each.method == "POST"]
        return sum(len(each) == 2 for each in paths)

    def count(self, method: str) -> int:
        """How many requests of a method reached IM, without dry runs."""
        return sum(each.method == method for each in self._real)

    @property
    def _real(self) -> list[PassedRequest]:
        return [each for each in self.passed if "dry_run" not in each.query]

    def inject(self, fault: Fault) -> Fault:
        """Let a fault hold, before those that hold already."""
        self._faults.insert(0, fault)
        return fault

    def heal(self) -> None:
        """Let everything pass again, what hangs or is late first."""
        for fault in self._faults:
            fault.release.set()
        self._faults.clear()

    async def refuse(self) -> None:
        """Listen no more, as if IM were down; open connections end."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def listen(self) -> None:
        """Listen, again at the same place."""
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True).start()
        self._port = self._runner.addresses[0][1]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        fault = self._take(request)
        if fault is None:
            return await self._forward(request)
        if fault.kind is FaultKind.ANSWER:
            return web.Response(
                status=fault.status, body=fault.body, content_type=fault.content_type
            )
        if fault.kind is FaultKind.HANG:
            await fault.release.wait()
            return self._cut(request)
        if fault.kind is FaultKind.CUT:
            await request.read()
            self._cuts.add(asyncio.ensure_future(self._forward(request)))
            fault.applied.set()
            return self._cut(request)
        answer = await self._forward(request)
        fault.applied.set()
        if fault.kind is FaultKind.LOSE_ANSWER:
            return self._cut(request)
        await fault.release.wait()
        return answer

    def _take(self, request: web.Request) -> Fault | None:
        for fault in self._faults:
            if fault.when(request) and fault.times != 0:
                if fault.times is not None:
                    fault.times -= 1
                fault.met.set()
                return fault
        return None

    async def _forward(self, request: web.Request) -> web.Response:
        body = await request.read()
        headers = [(k, v) for k, v in request.headers.items() if k.lower() not in _HOP]
        url = URL(f"{self._upstream}{request.rel_url.raw_path_qs}", encoded=True)
        async with self._session.request(
            request.method, url, headers=headers, data=body or None
        ) as answer:
            content = await answer.read()
            told = [(k, v) for k, v in answer.headers.items() if k.lower() not in _HOP]
        self.passed.append(
            PassedRequest(request.method, request.path, request.query_string, answer.status)
        )
        if is_create(request) and answer.status == 200:
            self.created.append(answer.headers["InfID"])
        reply = web.Response(status=answer.status, body=content)
        reply.headers.clear()
        reply.headers.extend(told)
        return reply

    @staticmethod
    def _cut(request: web.Request) -> web.Response:
        """End the connection; nobody reads what is answered."""
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)
