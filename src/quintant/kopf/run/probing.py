"""The probe of an operator: what its probe handlers return, as JSON, at most every ten seconds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec

from quintant.client.transport import JSON
from quintant.core.address import BindAddress
from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError
from quintant.http.request import Request
from quintant.http.response import Response
from quintant.kopf.declare.errors import ActivityError
from quintant.runtime.observe.listen import listen

KEPT_SECONDS = 10.0


@asynccontextmanager
async def serving_probes(
    url: str, probe: Callable[[], Awaitable[dict[str, Any]]]
) -> AsyncIterator[None]:
    """Answer at a URL while the context lasts; ConfigError if it is none."""
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname:
        raise ConfigError(
            f"cannot answer probes at {url}", because="it is no http:// URL",
            hint="--liveness=http://0.0.0.0:8080/healthz",
        )  # fmt: skip
    handler = _Probes(parts.path or "/", probe)
    async with listen(handler, BindAddress(parts.hostname, parts.port or 80), shows_only=True):
        yield


class _Probes:
    def __init__(self, path: str, probe: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        self._path, self._probe, self._lock = path, probe, asyncio.Lock()
        self._answer, self._at = Response(503), float("-inf")

    async def __call__(self, request: Request) -> Response:
        if request.path != self._path:
            return Response(404)
        async with self._lock:
            if monotonic() - self._at >= KEPT_SECONDS:
                self._answer, self._at = await self._ask(), monotonic()
        return self._answer

    async def _ask(self) -> Response:
        try:
            body = msgspec.json.encode(await self._probe())
        except (ActivityError, TypeError) as error:
            return Response(500, {"content-type": "text/plain"}, str(error).encode())
        return Response(200, {"content-type": JSON}, body)
