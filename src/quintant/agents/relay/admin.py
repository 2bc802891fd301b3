"""The relay's own small web server for those who run it: health, readiness, metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from quintant.agents.relay.metrics import RelayMetrics
from quintant.agents.relay.tunnel.name_registry import NameRegistry
from quintant.agents.relay.tunnel.tunnel_connection import TunnelConnection
from quintant.http import server
from quintant.http.response import Response, text_response
from quintant.http.routes import exact_path, route_by_path
from quintant.metrics import CONTENT_TYPE

GOODBYE_SECONDS = 0.1
"""Nobody waits for a scrape when the relay has drained."""


@asynccontextmanager
async def serving(
    metrics: RelayMetrics,
    names: NameRegistry[TunnelConnection],
    address: tuple[str, int],
    draining: Callable[[], bool],
) -> AsyncIterator[None]:
    """Serve /healthz, /readyz and /metrics while the context lasts."""

    def readyz() -> Response:
        return text_response("draining", 503) if draining() else text_response("ok")

    def scraped() -> Response:
        return Response(200, {"content-type": CONTENT_TYPE}, metrics.render(names))

    pages = {"healthz": lambda: text_response("ok"), "readyz": readyz, "metrics": scraped}
    handler = route_by_path({word: exact_path(show) for word, show in pages.items()})
    async with server.serving(handler, *address, goodbye=GOODBYE_SECONDS, shows_only=True):
        yield
