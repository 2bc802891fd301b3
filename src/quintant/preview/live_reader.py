"""The live cluster, to be read: no other verb can be said here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from quintant.client.rest import PAGE_SIZE
from quintant.client.transport import JSON, ApiRequest, ApiResponse, Transport

JsonObject = dict[str, Any]
MOST_PAGES = 2_000
"""Of one list, a million objects: a server that goes on and on is not believed."""


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
        return _document(reply, path)

    async def list(self, path: str) -> AsyncIterator[JsonObject]:
        """Every object of a collection; LiveRefusal if it cannot be read."""
        token = ""
        for _ in range(MOST_PAGES):
            query = {"limit": str(PAGE_SIZE)} | ({"continue": token} if token else {})
            reply = await self._read(path, query)
            page = _document(reply, path)
            for item in page.get("items") or ():
                yield item
            metadata = page.get("metadata")
            token = str(metadata.get("continue") or "") if isinstance(metadata, dict) else ""
            if not token:
                return
        raise LiveRefusal(ApiResponse(508), path)

    async def _read(self, path: str, query: Mapping[str, str]) -> ApiResponse:
        return await self.transport.request(ApiRequest("GET", path, query, {"accept": JSON}))


def _document(reply: ApiResponse, path: str) -> JsonObject:
    if not 200 <= reply.status < 300:
        raise LiveRefusal(reply, path)
    try:
        return msgspec.json.decode(reply.body, type=JsonObject)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise LiveRefusal(ApiResponse(502, b"the answer is no JSON object"), path) from None
