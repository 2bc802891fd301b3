"""AttachContainer: a client that follows what a container prints, from now on.

Programs of this machine have no input that one could be attached to: only their output is carried.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import TerminalSize


class AttachedOutput:
    """The output of a container, as a program of which a client sees stdout."""

    def __init__(self, pieces: AsyncGenerator[bytes, None]) -> None:
        self._pieces = pieces
        self._over = asyncio.Event()

    async def read(self, stream: str) -> bytes:
        if stream != "stdout" or self._over.is_set():
            return b""
        reading = asyncio.ensure_future(anext(self._pieces, b""))
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait((reading, over), return_when=asyncio.FIRST_COMPLETED)
            piece = reading.result() if reading.done() else b""
        finally:
            for each in (reading, over):
                each.cancel()
            await asyncio.gather(reading, over, return_exceptions=True)
        if not piece:
            self._over.set()
        return piece

    async def write(self, data: bytes) -> None:
        """There is no input."""

    def close_stdin(self) -> None:
        """There is no input."""

    def resize(self, size: TerminalSize) -> None:
        """There is no terminal."""

    async def ended(self) -> int:
        await self._over.wait()
        return 0

    def kill(self) -> None:
        """Follow no more; the container goes on."""
        self._over.set()
