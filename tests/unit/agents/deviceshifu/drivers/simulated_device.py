"""A simulated device on a port, as long as a test wants it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from quintant.agents.devices.http_device import MockOptions

Serve = Callable[[MockOptions, asyncio.Event], Coroutine[Any, Any, None]]


@asynccontextmanager
async def simulated(serve: Serve, port: int) -> AsyncIterator[None]:
    """Serve meanwhile; the port is free again afterwards."""
    stopped = asyncio.Event()
    work = asyncio.ensure_future(serve(MockOptions("device", "127.0.0.1", port), stopped))
    try:
        yield
    finally:
        stopped.set()
        await work
