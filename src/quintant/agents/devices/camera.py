"""A simulated camera: a grey picture whose brightness changes, once or as a stream that goes on.

The pictures are real JPEG, of one colour: written here, byte by byte, for nothing that encodes
pictures is loaded.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from functools import lru_cache, partial

from quintant.agents.devices import http_device
from quintant.agents.devices.http_device import Pages, text
from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse

FRAME_SECONDS = 0.2
LEVELS = 16
"""Of grey, one after another."""
SIZE = 8
BOUNDARY = "frame"
MOVES = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}


class CameraState:
    """Where it looks, and how many pictures it took."""

    def __init__(self) -> None:
        self.x: int = 0
        self.y: int = 0
        self.taken: int = 0

    def capture(self, _: Request) -> Response:
        """One picture."""
        self.taken += 1
        return Response(200, {"content-type": "image/jpeg"}, picture(self.taken % LEVELS))

    def stream(self, _: Request) -> StreamingResponse:
        """Pictures, for as long as somebody looks."""
        kind = f"multipart/x-mixed-replace; boundary={BOUNDARY}"
        return StreamingResponse(self._frames(), headers={"content-type": kind}, write_timeout=10.0)

    def info(self, _: Request) -> Response:
        """Where it looks."""
        fields = {"simulator": True, "x": self.x, "y": self.y, "taken": self.taken}
        return Response(200, {"content-type": "application/json"}, json.dumps(fields).encode())

    def move(self, way: str, _: Request) -> Response:
        """Look elsewhere."""
        x, y = MOVES[way]
        self.x, self.y = self.x + x, self.y + y
        return text("Success")

    async def _frames(self) -> AsyncGenerator[bytes, None]:
        while True:
            self.taken += 1
            shot = picture(self.taken % LEVELS)
            head = f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(shot)}"
            yield f"{head}\r\n\r\n".encode() + shot + b"\r\n"
            await asyncio.sleep(FRAME_SECONDS)


def pages(camera: CameraState) -> Pages:
    """What it answers."""
    moves: Pages = {f"move/{way}": partial(camera.move, way) for way in MOVES}
    return {
        "capture": camera.capture, "stream": camera.stream, "info": camera.info, **moves,
    }  # fmt: skip


@lru_cache(maxsize=LEVELS)
def picture(level: int) -> bytes:
    """A JPEG of eight by eight points in one grey.

    One block whose only coefficient is its mean: four bits say how many bits that has.
    """
    mean = (level - LEVELS // 2) * 8
    bits = f"{0:04b}" if not mean else f"{abs(mean).bit_length():04b}{_coded(mean)}"
    bits += "0"  # the code of the end of the block
    bits += "1" * (-len(bits) % 8)
    data = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\x00")
    size = SIZE.to_bytes(2, "big")
    return b"".join((
        b"\xff\xd8",
        _segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"),
        _segment(0xDB, b"\0" + b"\x08" * 64),
        _segment(0xC0, b"\x08" + size + size + b"\x01\x01\x11\0"),
        # Sixteen lengths of four bits stand for themselves; the end of a block is one bit.
        _segment(0xC4, b"\0" + bytes([0, 0, 0, 12, *[0] * 12]) + bytes(range(12))),
        _segment(0xC4, b"\x10" + bytes([1, *[0] * 15]) + b"\0"),
        _segment(0xDA, b"\x01\x01\0\0\x3f\0"),
        data,
        b"\xff\xd9",
    ))  # fmt: skip


def _coded(value: int) -> str:
    length = abs(value).bit_length()
    return f"{value if value > 0 else value + (1 << length) - 1:0{length}b}"


def _segment(kind: int, body: bytes) -> bytes:
    return bytes([0xFF, kind]) + (len(body) + 2).to_bytes(2, "big") + body


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    http_device.main("camera", pages(CameraState()), arguments)
