"""The relay's own small web server for those who run it: health, readiness, metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from quintant.agents.mux.series import CONTENT_TYPE
from quintant.agents.relay.metrics import Metrics
from quintant.agents.relay.names import Names
from quintant.agents.relay.tunnel import Tunnel
from quintant.http import server
from quintant.http.response import Answer, text
from quintant.http.routes import paged, single

GOODBYE_SECONDS = 0.1
"""Nobody waits for a scrape when the relay has drained."""


@asynccontextmanager
async def serving(
    metrics: Metrics, names: Names[Tunnel], address: tuple[str, int], draining: Callable[[], bool]
) -> AsyncIterator[None]:
    """Serve /healthz, /readyz and /metrics while the context lasts."""

    def readyz() -> Answer:
        return text("draining", 503) if draining() else text("ok")

    def scraped() -> Answer:
        return Answer(200, {"content-type": CONTENT_TYPE}, metrics.text(names).encode())

    pages = {"healthz": lambda: text("ok"), "readyz": readyz, "metrics": scraped}
    handler = paged({word: single(show) for word, show in pages.items()})
    async with server.serving(handler, *address, goodbye=GOODBYE_SECONDS):
        yield
