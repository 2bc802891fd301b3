"""A subresource of one object, as plain data: scale, or any other.

What a write to it changes in the object itself shows in a cache when the watch brings it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from quintant.client.rest import MERGE, Rest, object_path, uninterrupted
from quintant.client.transport import JSON, ApiRequest
from quintant.core import codec
from quintant.core.object import Object
from quintant.core.resource import resource_of


class Subresource(Struct, frozen=True):
    """`client.sub(deployment, "scale")`: get it, patch it, or post to it."""

    rest: Rest
    obj: Object
    name: str
    query: Mapping[str, str]
    """What every write of the client says of itself: its field manager, a dry run."""

    async def get(self) -> dict[str, Any]:
        """Read it."""
        return await self._send(ApiRequest("GET", self._path(), headers={"accept": JSON}))

    async def patch(self, change: Mapping[str, Any]) -> dict[str, Any]:
        """Merge a change into it."""
        return await self._write("PATCH", change, MERGE)

    async def post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Post to it, as eviction and token do."""
        return await self._write("POST", body, JSON)

    async def _write(self, method: str, body: Mapping[str, Any], kind: str) -> dict[str, Any]:
        headers, data = {"accept": JSON, "content-type": kind}, codec.encode(body)
        call = self.rest.write_call(method, self._path(), self.query, headers, data)
        return await uninterrupted(self._send(call))

    async def _send(self, call: ApiRequest) -> dict[str, Any]:
        reply = await self.rest.send(call)
        answer: dict[str, Any] = codec.decode_reply(reply.body, dict[str, Any])
        return answer

    def _path(self) -> str:
        return object_path(resource_of(type(self.obj)), self.obj.key, self.name)
