"""A console's server as a script: rows as a test says them, so that its page meets anything.

It serves the real page and speaks the real stream (snapshots, changes with versions, heartbeats),
and does on request what a real one should never do: fall silent, leave out a version, go away.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import resources
from typing import Any
from urllib.parse import parse_qs, unquote

import msgspec

from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse, text_response
from quintant.http.server import serving

HEARTBEAT_SECONDS = 2.0
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
PAGES = ("", "systems", "edgemap", "objects", "changes", "events", "nodes")
Row = dict[str, Any]


@dataclass
class Topic:
    """Rows under one name, and how often they changed."""

    rows: dict[str, Row] = field(default_factory=dict)
    meta: Row = field(default_factory=dict)
    version: int = 1


@dataclass
class ConsoleServer:
    """The script: what there is, and how the server behaves."""

    topics: dict[str, Topic] = field(default_factory=dict)
    sources: dict[str, Row] = field(default_factory=dict)
    refused: dict[str, tuple[int, str]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    silent: bool = False
    """Connections stay, and nothing is said."""
    url: str = ""
    _viewers: list[tuple[list[str], asyncio.Queue[bytes]]] = field(default_factory=list)
    _port: int = 0
    _running: AsyncExitStack | None = None

    async def start(self) -> None:
        """Listen, on the same port as before."""
        self._running = AsyncExitStack()
        address = serving(self._handle, "127.0.0.1", self._port, goodbye=0.1, shows_only=True)
        host, self._port = await self._running.enter_async_context(address)
        self.url = f"http://{host}:{self._port}"

    async def stop(self) -> None:
        """Be gone, with every connection."""
        if self._running:
            await self._running.aclose()
        self._running = None
        self._viewers.clear()

    def put(self, topic: str, rows: Mapping[str, Row], **meta: Any) -> None:
        """What a topic has from now on, to whoever looks next."""
        known = self.topics.setdefault(topic, Topic())
        known.rows, known.meta = dict(rows), meta

    def change(
        self,
        topic: str,
        rows: Mapping[str, Row] | None = None,
        remove: tuple[str, ...] = (),
        meta: Row | None = None,
        *,
        lost: bool = False,
    ) -> None:
        """Change rows, and tell every viewer; a change that is lost on the way is not told."""
        known = self.topics[topic]
        known.version += 1
        known.rows.update(rows or {})
        for key in remove:
            known.rows.pop(key, None)
        known.meta.update(meta or {})
        news = {"topic": topic, "version": known.version, "set": rows or {}, "remove": remove}
        if not lost:
            self._tell(topic, encode_event("change", {**news, "meta": meta or {}}))

    def viewers(self) -> int:
        """How many streams there are."""
        return len(self._viewers)

    def _tell(self, topic: str, event: bytes) -> None:
        for names, queue in self._viewers:
            if topic in names and not self.silent:
                queue.put_nowait(event)

    async def _handle(self, request: Request) -> Response | StreamingResponse:
        self.requests.append(request.target)
        first, _, below = unquote(request.path).lstrip("/").partition("/")
        if request.path == "/api/stream":
            return self._stream(parse_qs(request.query)["topic"])
        if request.path == "/api/edgemap.txt":
            return text_response("edgeMap as text")
        if first == "api":
            return self._snapshot(below.removeprefix("topics/"))
        if first == "static":
            return static(below)
        return static("index.html") if first in PAGES else text_response("not found", 404)

    def _snapshot(self, topic: str) -> Response:
        status, reason = self.refused.get(topic, (200, ""))
        if status != 200:
            return text_response(reason, status)
        body = msgspec.json.encode(self._whole(topic))
        return Response(200, {"content-type": "application/json"}, body)

    def _whole(self, topic: str) -> Row:
        known = self.topics.get(topic, Topic())
        return {"topic": topic, "version": known.version, "rows": known.rows, "meta": known.meta}

    def _stream(self, topics: list[str]) -> Response | StreamingResponse:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        viewer = (topics, queue)
        for topic in topics:
            if topic in self.refused:
                status, reason = self.refused[topic]
                refusal = {"topic": topic, "status": status, "reason": reason}
                queue.put_nowait(encode_event("refused", refusal))
            else:
                queue.put_nowait(encode_event("snapshot", self._whole(topic)))
        self._viewers.append(viewer)
        headers = {"content-type": "text/event-stream", "cache-control": "no-store"}
        return StreamingResponse(self._events(queue), lambda: self._leave(viewer), 200, headers)

    def _leave(self, viewer: tuple[list[str], asyncio.Queue[bytes]]) -> None:
        self._viewers = [each for each in self._viewers if each is not viewer]

    async def _events(self, queue: asyncio.Queue[bytes]) -> AsyncGenerator[bytes, None]:
        yield self._heartbeat()
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    event = await queue.get()
            except TimeoutError:
                event = self._heartbeat()
            if not self.silent:
                yield event

    def _heartbeat(self) -> bytes:
        return encode_event("heartbeat", {"now": now(), "sources": self.sources})


def encode_event(name: str, value: Row) -> bytes:
    """One server-sent event."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(value))


def now() -> str:
    """The time as the console writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def static(name: str) -> Response:
    """A file of the page, with the policy that the real server sends."""
    file = resources.files("quintant").joinpath("console", "static", name)
    if not file.is_file() or "/" in name:
        return text_response("not found", 404)
    kind = TYPES[name.rpartition(".")[2]]
    headers = {"content-type": kind, "content-security-policy": POLICY, "cache-control": "no-cache"}
    return Response(200, headers, file.read_bytes())


@asynccontextmanager
async def console_server() -> AsyncIterator[ConsoleServer]:
    """A server with nothing in it."""
    server = ConsoleServer()
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
