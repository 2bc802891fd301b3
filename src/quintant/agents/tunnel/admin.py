"""The tunnel's own small web server: probes, the report, metrics. Never reached through a relay.

/healthz   200 while the process runs, whatever the relays do
/readyz    200 while any relay is connected and the tunnel is not leaving
/status    the report; ?watch=1 sends one line now and one per change
/metrics   Prometheus
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
from aiohttp import web

from quintant.agents.mux.series import CONTENT_TYPE
from quintant.agents.tunnel.report import Board

Text = Callable[[], str]


@asynccontextmanager
async def serving(board: Board, metrics: Text, address: tuple[str, int]) -> AsyncIterator[None]:
    """Serve while the context lasts; the port that was bound is on the board."""
    app = web.Application()
    app.add_routes(
        [
            web.get("/healthz", _healthz),
            web.get("/readyz", lambda request: _readyz(board)),
            web.get("/status", lambda request: _status(request, board)),
            web.get("/metrics", lambda request: _metrics(metrics)),
        ]
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    try:
        site = web.TCPSite(runner, *address)
        await site.start()
        board.admin_port = runner.addresses[0][1]
        yield
    finally:
        await runner.cleanup()


async def _healthz(request: web.Request) -> web.StreamResponse:
    return web.Response(text="ok\n")


async def _readyz(board: Board) -> web.StreamResponse:
    if board.draining:
        return web.Response(status=503, text="draining\n")
    if not board.connected:
        return web.Response(status=503, text="no relay is connected\n")
    return web.Response(text="ok\n")


async def _status(request: web.Request, board: Board) -> web.StreamResponse:
    report = board.report()
    if request.query.get("watch") != "1":
        body = msgspec.json.encode(report)
        return web.Response(body=body, content_type="application/json")
    response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
    await response.prepare(request)
    while True:
        await response.write(msgspec.json.encode(report) + b"\n")
        report = await board.after(report.seq)


async def _metrics(metrics: Text) -> web.StreamResponse:
    return web.Response(body=metrics().encode(), headers={"Content-Type": CONTENT_TYPE})
