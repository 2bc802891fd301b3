"""A subresource of one object, as plain data: scale, or any other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from quintant.runtime import codec
from quintant.runtime.client.rest import MERGE, Rest
from quintant.runtime.client.transport import JSON, Call
from quintant.runtime.object import Request
from quintant.runtime.resource import Resource


@dataclass(frozen=True, slots=True)
class Subresource:
    """`client.sub(deployment, "scale")`: get it, patch it, or post to it."""

    rest: Rest
    resource: Resource
    key: Request
    name: str
    fence: Callable[[], None]

    async def get(self) -> dict[str, Any]:
        """Read it."""
        return await self._send("GET", None, JSON)

    async def patch(self, change: Mapping[str, Any]) -> dict[str, Any]:
        """Merge a change into it."""
        self.fence()
        return await self._send("PATCH", change, MERGE)

    async def post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Post to it, as eviction and token do."""
        self.fence()
        return await self._send("POST", body, JSON)

    async def _send(self, method: str, body: Mapping[str, Any] | None, kind: str) -> dict[str, Any]:
        path = self.resource.path(self.key.namespace, self.key.name, self.name)
        headers = {"accept": JSON, "content-type": kind}
        data = None if body is None else codec.encode(body)
        reply = await self.rest.send(Call(method, path, headers=headers, body=data))
        return msgspec.json.decode(reply.body, type=dict[str, Any])
