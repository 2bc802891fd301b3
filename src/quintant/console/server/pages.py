"""From a request to a response: pages, files, topics and streams, to be read only.

Pages may be linked to from anywhere; what they are made of is for them alone: data and streams are
refused to a page of another origin, and nothing is shown to who is not let in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol
from urllib.parse import parse_qs, quote, unquote

from msgspec.structs import replace

from quintant.console.publisher import Publisher
from quintant.console.server import plain
from quintant.console.server.access import Viewer, ViewerAuthenticator
from quintant.console.server.sessions import MOST_TOKEN, Sessions, session_cookie
from quintant.console.server.static_files import SHELL, serve_file
from quintant.console.server.stream import HEADERS, UNREAD_SECONDS, ViewerCount, follow_topics
from quintant.console.topics import Topic
from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse, text_response
from quintant.http.routes import NOT_FOUND

MOST_VIEWERS = 100
"""Streams at once; each is a task and, at worst, one snapshot on its way."""
MOST_REQUESTS = 200
"""Requests that are answered at once, streams aside."""
MOST_TOPICS = 16
"""Topics of one stream."""
READING = ("GET", "HEAD")
SECURITY: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
        "img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
PAGES = ("", "edgemap", "changes", "events", "nodes")
"""Pages without a name below them."""
OBJECT_PARTS = 6
"""objects, group, version, plural, namespace, name."""

AnyResponse = Response | StreamingResponse


class TopicStore(Protocol):
    """Where topics are found, those that are made on demand included."""

    async def open(self, name: str) -> Topic | None:
        """A topic that has its first rows; None if there is none of that name."""

    def hold(self, topic: Topic) -> None:
        """Keep a topic that was made on demand while somebody looks."""

    def release(self, topic: Topic) -> None:
        """Somebody looks no more."""


class ConsolePages:
    """The handler of a console's server."""

    def __init__(
        self,
        publisher: Publisher,
        topics: TopicStore,
        authenticator: ViewerAuthenticator,
        *,
        map_text: Callable[[], str] | None = None,
        readmes: Mapping[str, str] | None = None,
        secured: bool = False,
    ) -> None:
        self._map, self._readmes = map_text, readmes or {}
        self._publisher, self._topics, self._authenticator = publisher, topics, authenticator
        self._sessions, self._secured = Sessions(), secured
        self.viewers: ViewerCount = ViewerCount(MOST_VIEWERS)
        self._requests = ViewerCount(MOST_REQUESTS)

    async def __call__(self, request: Request) -> AnyResponse:
        """Answer a request."""
        leave = self._requests.enter()
        if leave is None:
            return _hardened(
                text_response("too many requests at once", 503, **{"retry-after": "1"})
            )
        try:
            return _hardened(await self._respond(request))
        finally:
            leave()

    async def _respond(self, request: Request) -> AnyResponse:
        if request.method not in READING:
            return text_response("only GET and HEAD", 405, allow="GET, HEAD")
        parts = _parts(request.path)
        if parts is None:
            return NOT_FOUND
        if parts == ["healthz"]:
            return text_response("ok")
        if parts[0] == "static":
            return serve_file(request, parts[1]) if len(parts) == 2 else NOT_FOUND
        if parts == ["login"]:
            return await self._login(request)
        if parts[0] == "api" and (refused := _from_elsewhere(request)):
            return text_response(refused, 403)
        viewer = await self._authenticator.authenticate(self._sessions.token_of(request))
        if viewer is None:
            return _sign_in(parts[0] == "api")
        return await self._show(request, parts, viewer)

    async def _show(self, request: Request, parts: list[str], viewer: Viewer) -> AnyResponse:
        if parts[0] == "api":
            return await self._data(request, parts[1:], viewer)
        if parts[0] == "plain" and is_page(parts[1:] or [""]):
            return await self._plain(parts[1:] or [""], viewer)
        if parts[0] == "docs" and len(parts) == 2 and parts[1] in self._readmes:
            return plain.docs_page(parts[1], self._readmes[parts[1]])
        return serve_file(request, SHELL) if is_page(parts) else NOT_FOUND

    async def _data(self, request: Request, parts: list[str], viewer: Viewer) -> AnyResponse:
        if parts == ["stream"]:
            return await self._stream(request, viewer)
        if parts == ["edgemap.txt"]:
            return await self._map_text(viewer)
        if len(parts) < 2 or parts[0] != "topics":
            return NOT_FOUND
        topic = await self._topics.open("/".join(quote(each, safe="") for each in parts[1:]))
        if topic is None or not await viewer.refresh([topic]):
            return NOT_FOUND
        headers = {"content-type": "application/json", "cache-control": "no-store"}
        return Response(200, headers, topic.snapshot(viewer.allowed))

    async def _stream(self, request: Request, viewer: Viewer) -> AnyResponse:
        names = parse_qs(request.query).get("topic", [])
        if not names or len(names) > MOST_TOPICS:
            return text_response(f"name 1 to {MOST_TOPICS} topics", 400)
        opened = {name: await self._topics.open(name) for name in dict.fromkeys(names)}
        known = [each for each in opened.values() if each is not None]
        if not known:
            return NOT_FOUND
        unknown = [name for name, topic in opened.items() if topic is None]
        leave = self.viewers.enter()
        if leave is None:
            return text_response("too many viewers", 503, **{"retry-after": "5"})
        for topic in known:
            self._topics.hold(topic)

        def close() -> None:
            leave()
            for topic in known:
                self._topics.release(topic)

        pieces = follow_topics(known, self._publisher, viewer, unknown)
        return StreamingResponse(pieces, close, 200, HEADERS, write_timeout=UNREAD_SECONDS)

    async def _map_text(self, viewer: Viewer) -> Response:
        """The map as a text, for who may see all of it."""
        topic = await self._topics.open("edgemap")
        if self._map is None or topic is None or not await viewer.refresh([topic]):
            return NOT_FOUND
        if viewer.allowed is not None and not viewer.allowed(topic.meta_scope):
            return text_response("it names devices that you may not list", 403)
        return text_response(self._map().removesuffix("\n"))

    async def _plain(self, parts: list[str], viewer: Viewer) -> Response:
        topic = await self._topics.open(plain.topic_of(parts))
        if topic is None or not await viewer.refresh([topic]):
            return NOT_FOUND
        now, sources = self._publisher.clock.now(), self._publisher.sources.states()
        page = plain.page_of(topic.snapshot(viewer.allowed), now, sources)
        return Response(200, plain.HTML, page)

    async def _login(self, request: Request) -> Response:
        """Take a token from the address, and give a cookie for it."""
        token = (parse_qs(request.query).get("token") or [""])[0][:MOST_TOKEN]
        if not token:
            return plain.login_page()
        if await self._authenticator.authenticate(token) is None:
            return plain.login_page(refused=True)
        cookie = session_cookie(self._sessions.begin(token), secured=self._secured)
        return Response(303, {"location": "/", "set-cookie": cookie, "cache-control": "no-store"})


def is_page(parts: list[str]) -> bool:
    """Whether a path is that of a page."""
    match parts:
        case [name]:
            return name in PAGES
        case ["systems", name]:
            return bool(name)
        case ["changes", namespace]:
            return bool(namespace)
    return parts[0] == "objects" and len(parts) == OBJECT_PARTS and all(parts)


def _parts(path: str) -> list[str] | None:
    """The segments of a path, decoded; None for what tries to lead elsewhere."""
    parts = [unquote(each, errors="replace") for each in path.removeprefix("/").split("/")]
    if len(parts) > 1 and not parts[-1]:
        parts.pop()
    bad = any(each in (".", "..") or "/" in each or not each.isprintable() for each in parts)
    return None if bad or not path.startswith("/") else parts


def _from_elsewhere(request: Request) -> str:
    """Why data are refused to a request; empty if they are not."""
    site = request.field(b"sec-fetch-site").strip().lower()
    if site not in ("", "same-origin", "none"):
        return "data are for this console's own pages"
    origin = request.field(b"origin").strip()
    if origin and origin.partition("://")[2].lower() != request.field(b"host").strip().lower():
        return "data are for this console's own pages"
    return ""


def _sign_in(data: bool) -> Response:
    if data:
        return text_response("show a token", 401, **{"www-authenticate": "Bearer"})
    return plain.login_page(status=401)


def _hardened(response: AnyResponse) -> AnyResponse:
    return replace(response, headers={**SECURITY, **response.headers})
