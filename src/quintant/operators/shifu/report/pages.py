"""The server of edgeMap: to be read only, on leader and standby alike.

GET /edgemap.txt             the adjacency list
GET /api/edgemap             vertices and links as JSON; 304 if `?version=` is the newest
GET /api/edgemap/watch       every change, as server-sent events
GET /api/explain/NS/NAME     why a device is where it is
"""

from __future__ import annotations

import asyncio
from typing import Final
from urllib.parse import parse_qs

import msgspec

from quintant.core.address import BindAddress
from quintant.core.object import Request as Key
from quintant.http.request import Request
from quintant.http.response import TEXT, Response, StreamingResponse, text_response
from quintant.http.routes import NOT_FOUND, exact_path, route_by_path
from quintant.http.server import Handler
from quintant.operators.shifu.report.document import explanation, whole_map
from quintant.operators.shifu.report.stream import UNREAD_SECONDS, ChangeHistory, edge_events
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.cache.client import Client
from quintant.runtime.observe.listen import listen
from quintant.runtime.observe.logs import get_logger

log: Final = get_logger()

_JSON = {"content-type": "application/json", "cache-control": "no-store"}
_EVENTS = {"content-type": "text/event-stream", "cache-control": "no-store"}
OFF = "off"
MOST_STREAMS = 64
"""Clients that follow the map at once."""


class EdgeMapPages:
    """Serves edgeMap; a runnable."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self._history = ChangeHistory(topology.edgemap)
        self._streams = 0

    async def __call__(self, client: Client) -> None:
        address = self.topology.options.edgemap_addr
        if address in ("", OFF):
            return
        async with listen(self.handler(), BindAddress.parse(address)) as bound:
            log.info("serving edgemap", address=str(bound))
            await asyncio.Future()

    def handler(self) -> Handler:
        """What answers requests."""
        return route_by_path({"edgemap.txt": exact_path(self._text), "api": self._api})

    def _text(self) -> Response:
        return Response(200, TEXT, self.topology.edgemap.text().encode())

    async def _api(self, request: Request, below: str) -> Response | StreamingResponse:
        match below.split("/"):
            case ["edgemap"]:
                return self._map(request)
            case ["edgemap", "watch"]:
                return self._watch(request)
            case ["explain", namespace, name] if namespace and name:
                found = explanation(self.topology, Key(name, namespace))
                return NOT_FOUND if found is None else _json(found)
        return NOT_FOUND

    def _map(self, request: Request) -> Response:
        version = self.topology.edgemap.version
        value = parse_qs(request.query).get("version", [""])[0]
        return Response(304) if value == str(version) else _json(whole_map(self.topology))

    def _watch(self, request: Request) -> Response | StreamingResponse:
        if self._streams >= MOST_STREAMS:
            return text_response("too many clients follow the map", 503)
        last = request.field(b"last-event-id")
        number = int(last) if last.isascii() and last.isdigit() and len(last) < 16 else None
        self._streams += 1
        return StreamingResponse(
            edge_events(self.topology, self._history, number),
            on_close=self._closed,
            headers=_EVENTS,
            write_timeout=UNREAD_SECONDS,
        )

    def _closed(self) -> None:
        self._streams -= 1


def _json(document: object) -> Response:
    return Response(200, _JSON, msgspec.json.encode(document))
