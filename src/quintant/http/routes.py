"""Handlers by the first segment of a path: what the small servers of a process are made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import unquote

from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse, text_response
from quintant.http.server import Handler

PathHandler = Callable[[Request, str], Awaitable[Response | StreamingResponse]]
"""From a request and the path below its first segment to the response."""

NOT_FOUND = text_response("not found", 404)
_READING = ("GET", "HEAD")


def route_by_path(handlers: Mapping[str, PathHandler]) -> Handler:
    """Serve handlers by the first segment of a path, to be read only."""

    async def handle(request: Request) -> Response | StreamingResponse:
        segment, _, below = unquote(request.path).strip("/").partition("/")
        if segment not in handlers:
            return NOT_FOUND
        if request.method not in _READING:
            return text_response("only GET and HEAD", 405, allow="GET, HEAD")
        return await handlers[segment](request, below)

    return handle


def exact_path(show: Callable[[], Response]) -> PathHandler:
    """A handler with nothing below its path."""

    async def handle(_request: Request, below: str) -> Response:
        return NOT_FOUND if below else show()

    return handle
