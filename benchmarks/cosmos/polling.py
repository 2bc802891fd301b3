"""What it costs to ask many nodes every five seconds, on connections that are kept.

`python -m benchmarks.cosmos.polling ours PORT PODS ROUNDS` prints the CPU of a poll as JSON; `bare`
is a protocol of asyncio's and a timer for each node, `aiohttp` a session of that.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from random import Random as Chance
from typing import Any, cast

import msgspec

from benchmarks.cosmos.chain import NETWORK, many_files
from processes.usage import MEGABYTE, usage
from quintant.wire.comet import parse_status

PERIOD_SECONDS = 5.0
REQUEST = b"GET /status HTTP/1.1\r\nHost: node\r\nAccept: */*\r\n\r\n"
_END, _LENGTH = b"\r\n\r\n", b"content-length:"

Poller = Callable[[int, int], Coroutine[Any, Any, None]]
"""Asks so many nodes at a port until it is cancelled."""


class Figures(msgspec.Struct):
    """What a poll took."""

    microseconds: float
    """CPU of one poll."""
    core: float
    """Of one core, with all pods."""
    megabytes: float


async def ours(port: int, pods: int) -> None:
    """The operator's own cache."""
    from quintant.core.clock import Random, SystemClock
    from quintant.core.object import Request
    from quintant.operators.cosmos.observed.comet import NodeTarget
    from quintant.operators.cosmos.remote import HttpNodes
    from quintant.operators.cosmos.remote.comet import CometCache
    from quintant.runtime.source.sources import SourceContext
    from quintant.runtime.workqueue.workqueue import Workqueue

    cache, clock = CometCache(HttpNodes()), SystemClock()
    for number in range(pods // 3):
        uids = [f"{number}-{each}" for each in range(3)]
        targets = {uid: NodeTarget(uid, "127.0.0.1", port, NETWORK) for uid in uids}
        cache.follow(Request(f"hub-{number}", "default"), targets, {}, clock)
    await cache.news(SourceContext(Workqueue(), lambda: (), Random()))


class BareConnection(asyncio.Protocol):
    """As little as there can be between a loop and an answer: no task, no timeout, no error."""

    def __init__(self) -> None:
        self._loop, self._held = asyncio.get_running_loop(), b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._held += data
        head, _, body = self._held.partition(_END)
        length = int(head.lower().partition(_LENGTH)[2].partition(b"\r\n")[0])
        if len(body) >= length:
            parse_status(body)
            self._held = b""
            self._loop.call_later(PERIOD_SECONDS, self._ask)

    def _ask(self) -> None:
        if self._transport is not None:
            self._transport.write(REQUEST)


async def bare(port: int, pods: int) -> None:
    """asyncio and nothing else."""
    loop = asyncio.get_running_loop()
    for _ in range(pods):
        await loop.create_connection(BareConnection, "127.0.0.1", port)
    await asyncio.Future()


async def aiohttp(port: int, pods: int) -> None:
    """The library that most would take."""
    from aiohttp import ClientSession, TCPConnector

    async with ClientSession(connector=TCPConnector(limit=0, keepalive_timeout=60)) as session:

        async def poll() -> None:
            await asyncio.sleep(Chance().uniform(0, PERIOD_SECONDS))
            while True:
                async with session.get(f"http://127.0.0.1:{port}/status") as answer:
                    parse_status(await answer.read())
                await asyncio.sleep(PERIOD_SECONDS)

        await _all(poll, pods)


POLLERS: dict[str, Poller] = {"ours": ours, "bare": bare, "aiohttp": aiohttp}


async def measure(poller: Poller, port: int, pods: int, rounds: int) -> Figures:
    """Let connections be made first, and measure some rounds after that."""
    task = asyncio.create_task(poller(port, pods))
    await asyncio.sleep(2 * PERIOD_SECONDS)
    before, began = time.process_time(), time.monotonic()
    await asyncio.sleep(rounds * PERIOD_SECONDS)
    core = (time.process_time() - before) / (time.monotonic() - began)
    task.cancel()
    rss = usage(os.getpid()).rss / MEGABYTE
    return Figures(core * PERIOD_SECONDS / pods * 1e6, core, rss)


async def _all(poll: Callable[[], Awaitable[None]], pods: int) -> None:
    await asyncio.gather(*(poll() for _ in range(pods)))


if __name__ == "__main__":
    import uvloop

    many_files()
    name, *numbers = sys.argv[1:]
    print(msgspec.json.encode(uvloop.run(measure(POLLERS[name], *map(int, numbers)))).decode())
