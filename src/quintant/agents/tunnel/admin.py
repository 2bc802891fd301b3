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
    app.add_routes(Pages(board, metrics).routes())
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    try:
        await web.TCPSite(runner, *address).start()
        board.admin_port = runner.addresses[0][1]
        yield
    finally:
        await runner.cleanup()


class Pages:
    """What is served."""

    def __init__(self, board: Board, metrics: Text) -> None:
        self._board, self._metrics = board, metrics

    def routes(self) -> list[web.RouteDef]:
        """Which page is where."""
        return [
            web.get("/healthz", self.healthz),
            web.get("/readyz", self.readyz),
            web.get("/status", self.status, allow_head=False),
            web.get("/metrics", self.metrics),
        ]

    async def healthz(self, request: web.Request) -> web.StreamResponse:
        """Alive, whatever the relays do: a restart would not bring them back."""
        return web.Response(text="ok\n")

    async def readyz(self, request: web.Request) -> web.StreamResponse:
        """Whether visitors can come."""
        if self._board.draining:
            return web.Response(status=503, text="draining\n")
        if not self._board.connected:
            return web.Response(status=503, text="no relay is connected\n")
        return web.Response(text="ok\n")

    async def status(self, request: web.Request) -> web.StreamResponse:
        """The report, once or for ever."""
        report = self._board.report()
        if request.query.get("watch") != "1":
            body = msgspec.json.encode(report)
            return web.Response(body=body, content_type="application/json")
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        while True:
            await response.write(msgspec.json.encode(report) + b"\n")
            report = await self._board.after(report.seq)

    async def metrics(self, request: web.Request) -> web.StreamResponse:
        """Prometheus' text."""
        body = self._metrics().encode()
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE})
