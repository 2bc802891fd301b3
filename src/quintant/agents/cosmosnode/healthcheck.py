"""The sidecar that says whether a node is in sync, and how full its volume is.

    GET /             200 in sync, 422 catching up, 503 if the node does not answer sensibly
    GET /disk?dir=D   bytes of the volume that a folder is on

The node is asked when somebody asks. Only changes are logged.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from quintant.agents.cosmosnode.http_get import FAILURES, GetTarget, get, why
from quintant.agents.embedded_node import PathOutsidePod, host_in_pod, pod_address, pod_path
from quintant.agents.multiplex.program import say
from quintant.agents.volumes import volume_usage
from quintant.http.request import Request
from quintant.http.response import Response, text_response
from quintant.http.server import serving
from quintant.wire.comet import HEALTH_PORT, RPC_PORT, MalformedStatus, parse_status

STATUS_BYTES = 256 * 1024
"""A status has two kilobytes; what is larger is none."""
_JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class HealthOptions:
    """What it is told."""

    rpc: str = f"http://localhost:{RPC_PORT}"
    seconds: float = 5.0
    host: str = ""
    port: int = HEALTH_PORT


class HealthCheck:
    """Answers for one node."""

    def __init__(self, options: HealthOptions, environ: Mapping[str, str] = os.environ) -> None:
        self._options, self._environ = options, environ
        self._target = _node(options.rpc, environ)
        self._logged_status = 0

    async def handle(self, request: Request) -> Response:
        """The answer to a request."""
        if request.method not in ("GET", "HEAD"):
            return text_response("only GET and HEAD", 405, allow="GET, HEAD")
        match request.path:
            case "/":
                return await self.in_sync()
            case "/disk":
                folder = parse_qs(request.query).get("dir", [""])[0]
                return await asyncio.to_thread(self.disk, folder)
        return text_response("not found", 404)

    async def in_sync(self) -> Response:
        """Whether the node is in sync."""
        document: dict[str, Any] = {"address": self._options.rpc, "in_sync": False}
        try:
            _, body = await get(self._target, seconds=self._options.seconds, most=STATUS_BYTES)
            document["in_sync"] = not parse_status(body).catching_up
            status = 200 if document["in_sync"] else 422
        except MalformedStatus as error:
            status, document["error"] = 503, str(error)
        except FAILURES as error:
            status, document["error"] = 503, why(error)
        if status != self._logged_status:
            self._logged_status = status
            say("health", status=status, **document)
        return Response(status, _JSON, json.dumps(document).encode())

    def disk(self, folder: str) -> Response:
        """How full a volume is. It blocks."""
        if not folder:
            return _disk(400, {"dir": "", "error": "dir is missing: /disk?dir=FOLDER"})
        try:
            found = volume_usage(str(pod_path(folder, self._environ)), self._environ)
        except PathOutsidePod:
            return _disk(403, {"dir": folder, "error": "the folder is not of this pod"})
        except (OSError, ValueError) as error:
            message = getattr(error, "strerror", None) or str(error)
            return _disk(500, {"dir": folder, "error": message})
        free = max(found.size - found.used, 0)
        sizes = {"all_bytes": found.size, "free_bytes": free}
        return _disk(200, {"dir": folder, **{key: each for key, each in sizes.items() if each}})


async def serve(options: HealthOptions, stopped: asyncio.Event) -> None:
    """Answer until the event is set."""
    check = HealthCheck(options)
    host = options.host or pod_address()
    async with serving(check.handle, host, options.port) as (address, port):
        say("serve", address=address, port=port, rpc=options.rpc)
        await stopped.wait()


def _node(rpc: str, environ: Mapping[str, str]) -> GetTarget:
    """Where the node of this pod answers /status."""
    parts = urlsplit(rpc if "://" in rpc else f"http://{rpc}")
    scheme = "http" if parts.scheme == "tcp" else parts.scheme
    host = host_in_pod(parts.hostname or "localhost", environ)
    host = f"[{host}]" if ":" in host else host
    return GetTarget.of(f"{scheme}://{host}:{parts.port or RPC_PORT}/status")


def _disk(status: int, document: Mapping[str, Any]) -> Response:
    return Response(status, _JSON, json.dumps(document).encode())
