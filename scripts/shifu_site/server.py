"""A server that only shows: streams that begin with everything, and lists for who wants those.

Writes are counted, refused, and told at /writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable

import msgspec

from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse, text_response
from shifu_site.objects import GROUP, PATHS

BLOCK_BYTES = 64 * 1024
BOOKMARK = (
    b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2000000",'
    b'"annotations":{"k8s.io/initial-events-end":"true"}}}}\n'
)
ADDED, END = b'{"type":"ADDED","object":', b"}\n"
JSON_TYPE = {"content-type": "application/json"}
API_VERSION = "shifu.edgenesis.io/v1alpha1"
KINDS = {"edgedevices": "EdgeDevice", "telemetryservices": "TelemetryService"}
"""Those that upstream's controller follows: it asks for them before, and lists them."""
_OURS = {"groupVersion": API_VERSION, "version": "v1alpha1"}
_GROUP = {"name": "shifu.edgenesis.io", "versions": [_OURS], "preferredVersion": _OURS}
DISCOVERY: dict[str, object] = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_GROUP]},
    "/apis/shifu.edgenesis.io": {"kind": "APIGroup", "apiVersion": "v1", **_GROUP},
    GROUP: {
        "kind": "APIResourceList",
        "groupVersion": API_VERSION,
        "resources": [
            {"name": name, "singularName": "", "namespaced": True, "kind": kind,
             "verbs": ["get", "list", "watch"]}
            for name, kind in KINDS.items()
        ],
    },
}  # fmt: skip


class ShowingServer:
    """What is served, by path."""

    def __init__(self, objects: Iterable[tuple[str, bytes]]) -> None:
        parts: dict[str, list[bytes]] = {kind: [] for kind in PATHS}
        for kind, raw in objects:
            parts[kind].append(ADDED + raw + END)
        self._lines = {PATHS[kind]: b"".join(lines) for kind, lines in parts.items()}
        self._lines[f"{GROUP}/telemetryservices"] = b""
        self._writes = 0

    async def answer(self, request: Request) -> Response | StreamingResponse:
        """A watch that begins with everything, or a list; any write is refused."""
        if request.path == "/writes":
            return text_response(str(self._writes))
        if request.method != "GET":
            self._writes += 1
            return text_response("this server only shows", 500)
        if request.path in DISCOVERY:
            return Response(200, JSON_TYPE, msgspec.json.encode(DISCOVERY[request.path]))
        if request.path not in self._lines:
            return text_response("not found", 404)
        lines = self._lines[request.path]
        if "watch=" not in request.query:
            return Response(200, JSON_TYPE, _listed(request.path, lines))
        first = lines if "sendInitialEvents=true" in request.query else b""
        return StreamingResponse(_stream(first), headers=JSON_TYPE)


async def _stream(lines: bytes) -> AsyncGenerator[bytes, None]:
    for start in range(0, len(lines), BLOCK_BYTES):
        yield lines[start : start + BLOCK_BYTES]
    yield BOOKMARK
    await asyncio.Future()


def _listed(path: str, lines: bytes) -> bytes:
    """The same objects as a list, for who does not take a stream."""
    kind = KINDS.get(path.rpartition("/")[2], "")
    items = b",".join(line[len(ADDED) : -len(END)] for line in lines.splitlines(keepends=True))
    head = f'{{"kind":"{kind}List","apiVersion":"{API_VERSION}"'
    return b'%s,"metadata":{"resourceVersion":"1"},"items":[%s]}' % (head.encode(), items)
