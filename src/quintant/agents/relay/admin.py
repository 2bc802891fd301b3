"""The relay's own small web server for those who run it: health, readiness, metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from quintant.agents.mux.series import CONTENT_TYPE
from quintant.agents.relay.metrics import Metrics
from quintant.agents.relay.names import Names
from quintant.agents.relay.tunnel import Tunnel


@asynccontextmanager
async def serving(
    metrics: Metrics, names: Names[Tunnel], address: tuple[str, int], draining: Callable[[], bool]
) -> AsyncIterator[None]:
    """Serve /healthz, /readyz and /metrics while the context lasts."""

    async def healthz(request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(request: web.Request) -> web.Response:
        away = draining()
        return web.Response(status=503 if away else 200, text="draining\n" if away else "ok\n")

    async def scraped(request: web.Request) -> web.Response:
        body = metrics.text(names).encode()
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE})

    app = web.Application()
    app.add_routes(
        [web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", scraped)]
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, *address).start()
        yield
    finally:
        await runner.cleanup()
