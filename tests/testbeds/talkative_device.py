"""A device that speaks HTTP and answers in every way that a deviceShifu has to pass on.

`/echo` tells what it was asked, so that two agents before it can be compared by their answers.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl

from quintant.http.request import Request
from quintant.http.response import TEXT, Response, StreamingResponse
from quintant.http.server import serving

_TOLD = ("content-type", "accept", "x-caller", "x-twice")
LARGE = 200_000
PLACE = "127.66.6.6"
"""An address of this machine that, unlike the usual one, no pod takes for its own."""


class TalkativeDevice:
    """What it was asked, and where it is."""

    def __init__(self) -> None:
        self.address = ""
        self.authorizations: list[str] = []
        self.stopped = asyncio.Event()

    async def handle(self, request: Request) -> Response | StreamingResponse:
        """Answer by path."""
        if shown := request.field(b"authorization"):
            self.authorizations.append(shown)
        match request.path:
            case "/hello" | "/nested/name" | "/on":
                return Response(200, TEXT, b"Hello from the device")
            case "/echo":
                return await self._echo(request)
            case "/created":
                fields = {"content-type": "application/json", "x-device": "yes", "etag": '"7"'}
                return Response(201, fields, b'{"made":1}\n')
            case "/empty":
                return Response(204, {"x-device": "yes"})
            case "/fail":
                return Response(500, TEXT, b"out of order\n")
            case "/page":
                return Response(200, {"content-type": "text/html; charset=utf-8"}, b"<p>&amp;</p>")
            case "/bytes":
                raw = {"content-type": "application/octet-stream"}
                return Response(200, raw, bytes(range(256)))
            case "/large":
                return Response(200, {"content-type": "image/jpeg"}, b"\xff\xd8" * (LARGE // 2))
            case "/stream":
                form = {"content-type": "multipart/x-mixed-replace; boundary=b"}
                return StreamingResponse(self._pieces(), headers=form)
            case "/slow":
                await self.stopped.wait()
        return Response(404, TEXT, b"404 page not found\n")

    async def _echo(self, request: Request) -> Response:
        body = await request.body(LARGE)
        fields = {each: request.field(each.encode()) for each in _TOLD}
        told = {
            "method": request.method, "query": sorted(parse_qsl(request.query)),
            "fields": fields, "body": body.decode("latin-1"),
        }  # fmt: skip
        return Response(200, {"content-type": "application/json"}, json.dumps(told).encode())

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        for number in range(5):
            yield b"--b\r\n\r\npicture %d\r\n" % number
            await asyncio.sleep(0)


@asynccontextmanager
async def talkative_device() -> AsyncIterator[TalkativeDevice]:
    """The device, as long as a test wants it."""
    device = TalkativeDevice()
    async with serving(device.handle, PLACE, 0, goodbye=0.1) as (host, port):
        device.address = f"{host}:{port}"
        try:
            yield device
        finally:
            device.stopped.set()
