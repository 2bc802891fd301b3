"""The connections of a server, each served by a task of its own.

One that fails does no harm to any other. The end is in three steps: who asks nothing is dismissed,
who is being answered gets some time, who is left is cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from weakref import WeakSet

from quintant.http.connection import Connection


class Connections:
    """The clients that are connected; `failed` hears of tasks that ended with an error."""

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        self._failed = failed
        self._served: dict[asyncio.Task[None], Connection] = {}
        self._open: WeakSet[Connection] = WeakSet()
        """Those that their loop still knows: a goodbye by TLS takes its time."""
        self._empty = asyncio.Event()
        self._empty.set()

    def serve(
        self, connection: Connection, work: Coroutine[None, None, None]
    ) -> asyncio.Task[None]:
        """Serve a connection, and close it when that ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._served[task] = connection
        self._open.add(connection)
        self._empty.clear()
        task.add_done_callback(self._ended)
        return task

    def close_idle(self) -> None:
        """Close the connections of those who ask nothing."""
        for connection in list(self._served.values()):
            if connection.idle:
                connection.close()

    async def wait_closed(self, seconds: float) -> None:
        """Wait until no client is left, for so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._empty.wait()

    async def close(self) -> None:
        """Cut off the clients that are left."""
        for task in list(self._served):
            task.cancel()
        await asyncio.gather(*self._served, return_exceptions=True)
        for connection in tuple(self._open):
            connection.abort()
        await asyncio.sleep(0)  # sockets close in the loop's next turn

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._served.pop(task).served()
        if not self._served:
            self._empty.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed(error)
