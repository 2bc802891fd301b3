"""The live cluster, to be read: no other verb can be said here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from quintant.client.rest import PAGE_SIZE
from quintant.client.transport import JSON, ApiRequest, ApiResponse, Transport

JsonObject = dict[str, Any]
M = TypeVar("M")
MOST_PAGES = 2_000
"""Of one list, a million objects: a server that goes on and on is not believed."""


class _PageMetadata(Struct):
    token: str | None = msgspec.field(name="continue", default=None)


class _Page(Struct):
    items: list[msgspec.Raw] | None = None
    metadata: _PageMetadata | None = None


class LiveRefusal(Exception):
    """The live cluster answered with something else than what was asked for."""

    def __init__(self, reply: ApiResponse, path: str) -> None:
        super().__init__(f"GET {path}: {reply.status}")
        self.reply = reply

    @property
    def forbidden(self) -> bool:
        """Whether a role does not allow it, and nothing else is wrong."""
        return self.reply.status in (401, 403)


class LiveReader(Struct, frozen=True):
    """Reads objects of a cluster."""

    transport: Transport

    async def ask(self, call: ApiRequest) -> ApiResponse:
        """The answer to a request for what is no object: figures, versions, lists of kinds."""
        assert call.method == "GET", "nothing else leaves"
        return await self.transport.request(ApiRequest("GET", call.path, call.query, call.headers))

    async def get(self, path: str) -> JsonObject | None:
        """One object, if it is there; LiveRefusal if that is not to be known."""
        reply = await self._read(path, {})
        if reply.status == 404:
            return None
        return _decoded(reply, path, JsonObject)

    async def list(self, path: str) -> AsyncIterator[bytes]:
        """Every object of a collection, as JSON of whatever kind; LiveRefusal if it cannot be read.

        Each is decoded by itself: a page of decoded objects is garbage of which there is much.
        """
        token = ""
        for _ in range(MOST_PAGES):
            query = {"limit": str(PAGE_SIZE)} | ({"continue": token} if token else {})
            reply = await self._read(path, query)
            page = _decoded(reply, path, _Page)
            for item in page.items or ():
                yield bytes(item)
            token = (page.metadata.token if page.metadata is not None else None) or ""
            if not token:
                return
        raise LiveRefusal(ApiResponse(508), path)

    async def _read(self, path: str, query: Mapping[str, str]) -> ApiResponse:
        return await self.transport.request(ApiRequest("GET", path, query, {"accept": JSON}))


def _decoded(reply: ApiResponse, path: str, model: type[M]) -> M:
    if not 200 <= reply.status < 300:
        raise LiveRefusal(reply, path)
    try:
        return msgspec.json.decode(reply.body, type=model)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise LiveRefusal(ApiResponse(502, b"the answer is no JSON object"), path) from None
