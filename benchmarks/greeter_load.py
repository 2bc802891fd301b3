"""The third process of a reconcile benchmark: makes Greeters, and watches them being greeted.

It prints one line of JSON: how long the whole took, and for each Greeter the seconds from the
answer to its creation until the watch showed its status.
"""

from __future__ import annotations

import argparse
import asyncio
import time

import aiohttp
import msgspec
import uvloop

from benchmarks.operators.session import GREETERS, session
from benchmarks.operators.with_aiohttp import follow

# Requests at once while Greeters are made as fast as the server takes them.
AT_ONCE = 8
JSON = {"Content-Type": "application/json"}


class Outcome(msgspec.Struct):
    """What one load led to: seconds in all, and from each creation to its status, sorted."""

    seconds: float
    latencies: list[float]


class Load:
    """Greeters under way."""

    def __init__(self, prefix: str, count: int) -> None:
        self._names = iter([f"{prefix}-{number}" for number in range(count)])
        self._left = count
        self._created: dict[str, float] = {}
        self._greeted: dict[str, float] = {}
        self._prefix = prefix
        self.done = asyncio.Event()

    async def watch(self, http: aiohttp.ClientSession) -> None:
        """Note when each gets its status."""
        async for event in follow(http, GREETERS):
            name, status = event.object.metadata.name, event.object.status
            if not (status and status.greeted and name.startswith(self._prefix)):
                continue
            if name not in self._greeted:
                self._greeted[name] = time.monotonic()
                self._left -= 1
            if not self._left:
                self.done.set()

    async def create(self, http: aiohttp.ClientSession, rate: float = 0.0) -> None:
        """Make them, as fast as one request after the other goes, or so many a second."""
        for number, name in enumerate(self._names, 1):
            began = time.monotonic()
            body = {
                "apiVersion": "bench.quintant.dev/v1",
                "kind": "Greeter",
                "metadata": {"name": name, "namespace": "default"},
                "spec": {"message": f"hello {number}"},
            }
            async with http.post(
                GREETERS, data=msgspec.json.encode(body), headers=JSON
            ) as response:
                response.raise_for_status()
                await response.read()
            self._created[name] = time.monotonic()
            if rate:
                await asyncio.sleep(max(0.0, began + 1 / rate - time.monotonic()))

    def outcome(self) -> Outcome:
        """What was seen."""
        latencies = [self._greeted[name] - at for name, at in self._created.items()]
        seconds = max(self._greeted.values()) - min(self._created.values())
        return Outcome(seconds, sorted(max(0.0, each) for each in latencies))


async def main(prefix: str, count: int, rate: float) -> None:
    """Make the load and print its outcome."""
    load = Load(prefix, count)
    async with session() as http, asyncio.TaskGroup() as group:
        watcher = group.create_task(load.watch(http))
        for _ in range(1 if rate else AT_ONCE):
            group.create_task(load.create(http, rate))
        await load.done.wait()
        watcher.cancel()
    print(msgspec.json.encode(load.outcome()).decode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("prefix")
    parser.add_argument("count", type=int)
    parser.add_argument("--rate", type=float, default=0.0)
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(options.prefix, options.count, options.rate))
