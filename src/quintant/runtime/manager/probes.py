"""The small HTTP servers of a process: probes for the kubelet, metrics for Prometheus.

They start before everything else and stop last, so that a process can be asked how it is while it
starts and while it stops. `/healthz` and `/readyz` answer 200 or 500; `?verbose` lists the checks,
`?exclude=NAME` leaves one out, and `/readyz/NAME` runs a single one. What a program itself has to
show, as JSON, is beside its metrics.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from socket import socket
from ssl import SSLContext
from typing import TYPE_CHECKING, Protocol
from urllib.parse import parse_qs

from quintant.core.address import BindAddress
from quintant.http.request import Request
from quintant.http.response import Response, text_response
from quintant.http.routes import NOT_FOUND, PathHandler, route_by_path
from quintant.http.server import serving_on
from quintant.metrics import CONTENT_TYPE
from quintant.runtime.manager.health import HealthChecks, ProbeKind
from quintant.runtime.observe.listen import listen

if TYPE_CHECKING:  # loaded where metrics are not for everybody
    from quintant.runtime.observe.access import EndpointAccess
    from quintant.runtime.observe.debug_pages import DebugPages
    from quintant.runtime.webhook.certs import CertificateWatcher

METRICS = "metrics"

BoundPage = Callable[[str], Awaitable[bytes | None]]
"""From the path below a word to JSON; None if there is nothing there."""


class Exposition(Protocol):
    """Who has series to show."""

    def render(self) -> bytes | Awaitable[bytes]:
        """Every series in Prometheus' text format, perhaps after a moment."""


@dataclass(frozen=True, slots=True)
class ServerPorts:
    """Where the servers listen; None for one that is switched off."""

    probes: BindAddress | None
    metrics: BindAddress | None


@dataclass(slots=True)
class ProbeServer:
    """Serves what `health` and `metrics` have to say, and a program's JSON pages by word."""

    health: HealthChecks
    metrics: Exposition
    json_pages: Mapping[str, BoundPage] = field(default_factory=dict)
    access: EndpointAccess | None = None
    """Who says who may read metrics and what is beside them; None: everybody may."""
    certificates: CertificateWatcher | None = None
    """What they are served with; None is plain HTTP."""
    debug: DebugPages | None = None

    @asynccontextmanager
    async def serve(self, probes: str, metrics: str) -> AsyncIterator[ServerPorts]:
        """Listen while the context lasts; equal addresses share a server, an empty one is off."""
        examined, measured = self._examined(), self._measured()
        async with AsyncExitStack() as stack:
            if probes == metrics and probes:
                address = await _open(stack, probes, {**examined, **measured})
                yield ServerPorts(address, address)
                return
            context = None
            if self.certificates is not None and metrics:
                context = await stack.enter_async_context(self.certificates.following())
            yield ServerPorts(
                await _open(stack, probes, examined),
                await _open(stack, metrics, measured, context),
            )

    @asynccontextmanager
    async def serve_on(self, listening: socket) -> AsyncIterator[None]:
        """Show everything at a socket that listens already."""
        pages = {**self._examined(), **self._measured()}
        async with serving_on(route_by_path(pages), listening, shows_only=True):
            yield

    def _examined(self) -> dict[str, PathHandler]:
        return {probe.value: self._examiner(probe) for probe in ProbeKind}

    def _measured(self) -> dict[str, PathHandler]:
        pages: dict[str, PathHandler] = {
            word: _page(page) for word, page in self.json_pages.items()
        }
        pages[METRICS] = self._series
        if self.debug is not None:
            pages["debug"] = self.debug.show
        if (access := self.access) is None:
            return pages
        # Loaded where metrics are not for everybody.
        from quintant.runtime.observe.access import guarded

        return {word: guarded(page, word, access) for word, page in pages.items()}

    def _examiner(self, probe: ProbeKind) -> PathHandler:
        async def examine(request: Request, name: str) -> Response:
            query = parse_qs(request.query, keep_blank_values=True)
            if name:
                report = await self.health.run_check(probe, name)
            else:
                report = await self.health.run_checks(probe, query.get("exclude", []))
            if report is None:
                return text_response(f"there is no check {name!r}", 404)
            return text_response(report.text(verbose="verbose" in query), 200 if report.ok else 500)

        return examine

    async def _series(self, _request: Request, below: str) -> Response:
        if below:
            return NOT_FOUND
        text = self.metrics.render()
        body = await text if inspect.isawaitable(text) else text
        return Response(200, {"content-type": CONTENT_TYPE}, body)


def _page(page: BoundPage) -> PathHandler:
    async def show(_request: Request, path: str) -> Response:
        found = await page(path)
        if found is None:
            return NOT_FOUND
        return Response(200, {"content-type": "application/json"}, found)

    return show


async def _open(
    stack: AsyncExitStack,
    address: str,
    pages: dict[str, PathHandler],
    context: SSLContext | None = None,
) -> BindAddress | None:
    if not address:
        return None
    opened = listen(route_by_path(pages), BindAddress.parse(address), context, shows_only=True)
    return await stack.enter_async_context(opened)
