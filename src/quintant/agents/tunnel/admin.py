"""The tunnel's own small web server: probes, the report, metrics. Never reached through a relay.

/healthz   200 while the process runs, whatever the relays do
/readyz    200 while any relay is connected and the tunnel is not leaving; every one at first
/status    the report; ?watch=1 sends one line now and one per change
/metrics   Prometheus
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

import msgspec

from quintant.agents.tunnel.status import TunnelStatus
from quintant.http import server
from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse, text_response
from quintant.http.routes import NOT_FOUND, PathHandler, exact_path, route_by_path
from quintant.metrics import CONTENT_TYPE

GOODBYE_SECONDS = 0.1
"""Nobody waits for a report when the tunnel has ended."""

Scrape = Callable[[], bytes]


@asynccontextmanager
async def serving(
    status: TunnelStatus, metrics: Scrape, address: tuple[str, int]
) -> AsyncIterator[None]:
    """Serve while the context lasts; the port that was bound is in the status."""
    handler = route_by_path(Pages(status, metrics).pages())
    async with server.serving(handler, *address, goodbye=GOODBYE_SECONDS, shows_only=True) as bound:
        status.admin_port = bound[1]
        yield


class Pages:
    """What is served."""

    def __init__(self, status: TunnelStatus, metrics: Scrape) -> None:
        self._tunnel, self._metrics = status, metrics

    def pages(self) -> dict[str, PathHandler]:
        """Which page is where."""
        return {
            # Alive, whatever the relays do: a restart would not bring them back.
            "healthz": exact_path(lambda: text_response("ok")),
            "readyz": exact_path(self._ready),
            "status": self._status,
            "metrics": exact_path(self._measured),
        }

    def _ready(self) -> Response:
        """Whether visitors can come."""
        if self._tunnel.draining:
            return text_response("draining", 503)
        if self._tunnel.ready:
            return text_response("ok")
        which = "not every" if self._tunnel.connected else "no"
        return text_response(f"{which} relay is connected", 503)

    async def _status(self, request: Request, below: str) -> Response | StreamingResponse:
        """The report, once or for ever."""
        if below:
            return NOT_FOUND
        if parse_qs(request.query).get("watch") == ["1"]:
            return StreamingResponse(
                self._reports(), headers={"content-type": "application/x-ndjson"}
            )
        body = msgspec.json.encode(self._tunnel.report())
        return Response(200, {"content-type": "application/json"}, body)

    async def _reports(self) -> AsyncGenerator[bytes, None]:
        report = self._tunnel.report()
        while True:
            yield msgspec.json.encode(report) + b"\n"
            report = await self._tunnel.after(report.seq)

    def _measured(self) -> Response:
        return Response(200, {"content-type": CONTENT_TYPE}, self._metrics())
