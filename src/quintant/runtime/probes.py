"""The small HTTP servers of a process: probes for the kubelet, metrics for Prometheus.

They start before everything else and stop last, so that a process can be asked how it is while it
starts and while it stops. `/healthz` and `/readyz` answer 200 or 500; `?verbose` lists the checks,
`?exclude=NAME` leaves one out, and `/readyz/NAME` runs a single one. What a program itself has to
show, as JSON, is beside its metrics.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from quintant.runtime.address import Address
from quintant.runtime.health import Health, Probe
from quintant.runtime.listen import Handler, serving
from quintant.runtime.metrics import CONTENT_TYPE, Metrics

METRICS = "metrics"

Page = Callable[[web.BaseRequest, str], Awaitable[web.Response]]
Sheet = Callable[[str], Awaitable[bytes | None]]
"""From the path below a word to JSON; None if there is nothing there."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the servers listen; None for one that is switched off."""

    probes: Address | None
    metrics: Address | None


@dataclass(frozen=True, slots=True)
class Probes:
    """Serves what `health` and `metrics` have to say, and a program's own sheets by their word."""

    health: Health
    metrics: Metrics
    sheets: Mapping[str, Sheet] = field(default_factory=dict)

    @asynccontextmanager
    async def serve(self, probes: str, metrics: str) -> AsyncIterator[Ports]:
        """Listen while the context lasts; equal addresses share a server, an empty one is off."""
        examined = {probe.value: self._examiner(probe) for probe in Probe}
        measured: dict[str, Page] = {word: _page(sheet) for word, sheet in self.sheets.items()}
        measured[METRICS] = self._measure
        async with AsyncExitStack() as stack:
            if probes == metrics and probes:
                address = await _open(stack, probes, {**examined, **measured})
                yield Ports(address, address)
                return
            yield Ports(await _open(stack, probes, examined), await _open(stack, metrics, measured))

    def _examiner(self, probe: Probe) -> Page:
        async def examine(request: web.BaseRequest, name: str) -> web.Response:
            query = request.query
            if name:
                report = await self.health.single(probe, name)
            else:
                report = await self.health.examine(probe, query.getall("exclude", []))
            if report is None:
                return _text(404, f"there is no check {name!r}")
            return _text(200 if report.ok else 500, report.text(verbose="verbose" in query))

        return examine

    async def _measure(self, _request: web.BaseRequest, name: str) -> web.Response:
        if name:
            return _text(404, "not found")
        return web.Response(body=self.metrics.render(), headers={"content-type": CONTENT_TYPE})


def _page(sheet: Sheet) -> Page:
    async def show(_request: web.BaseRequest, path: str) -> web.Response:
        found = await sheet(path)
        if found is None:
            return _text(404, "not found")
        return web.Response(body=found, content_type="application/json")

    return show


async def _open(stack: AsyncExitStack, address: str, pages: dict[str, Page]) -> Address | None:
    if not address:
        return None
    return await stack.enter_async_context(serving(_handler(pages), Address.parse(address)))


def _handler(pages: dict[str, Page]) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        word, _, name = request.path.strip("/").partition("/")
        if word not in pages:
            return _text(404, "not found")
        if request.method not in ("GET", "HEAD"):
            return _text(405, "only GET and HEAD", allow="GET, HEAD")
        return await pages[word](request, name)

    return handle


def _text(status: int, text: str, **headers: str) -> web.Response:
    return web.Response(status=status, text=f"{text}\n", headers=headers)
