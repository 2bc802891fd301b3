"""How fast keys go through a controller's queue, with the metrics of a real controller."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator

import uvloop

from benchmarks.report import Table
from benchmarks.sizes import Sizes
from quintant.core.object import Request
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.workqueue.workqueue import Workqueue

METHOD = (
    "{count:,} distinct keys through the queue of one controller that counts for /metrics, in one "
    "process on uvloop; per second of CPU time. A merge adds a key that is there already; "
    "asyncio's queue, which neither merges nor waits nor counts, is the floor."
)


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure each step."""
    say("workqueue")
    keys = [Request(f"object-{number}", "default") for number in range(sizes.keys)]
    yield Table(
        "The work queue",
        METHOD.format(count=sizes.keys),
        ("", "add", "merge", "get and done"),
        [
            ("Quintant", *uvloop.run(_ours(keys))),
            ("asyncio.Queue", *uvloop.run(_plain(keys))),
        ],
    )


async def _ours(keys: list[Request]) -> tuple[str, ...]:
    queue: Workqueue[Request] = Workqueue(Metrics().queue_observer("bench"))

    async def add() -> None:
        for key in keys:
            queue.add(key)

    async def drain() -> None:
        for _ in keys:
            lease = await queue.get()
            assert lease is not None
            queue.done(lease.key)

    return tuple([await _rate(step, len(keys)) for step in (add, add, drain)])


async def _plain(keys: list[Request]) -> tuple[str, ...]:
    queue: asyncio.Queue[Request] = asyncio.Queue()

    async def add() -> None:
        for key in keys:
            queue.put_nowait(key)

    async def drain() -> None:
        for _ in keys:
            await queue.get()
            queue.task_done()

    return await _rate(add, len(keys)), "-", await _rate(drain, len(keys))


async def _rate(step: Callable[[], Awaitable[None]], count: int) -> str:
    began = time.process_time()
    await step()
    return f"{count / (time.process_time() - began):,.0f}/s"
