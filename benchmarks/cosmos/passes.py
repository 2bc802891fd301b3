"""What a pass costs that finds everything as it should be: CPU, writes, and requests to nodes.

`python -m benchmarks.cosmos.passes 200` prints the figures as JSON. A pass whose revisions are
forgotten is one before which so many others were asked for that none of its own is remembered.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable

import msgspec

from benchmarks.cosmos.rested import NAME, rested
from benchmarks.cosmos.world import NAMESPACE
from quintant.api.core import ConfigMap
from quintant.core.object import ObjectMeta, Request
from quintant.runtime.apply.revision import REMEMBERED, revision
from quintant.runtime.observe import logs

WINDOW_SECONDS = 0.02
"""What is measured at a time: long enough for a pass."""
SETTLE_SECONDS = 3.0
FORGETFUL_SHARE = 10
"""Filling the memory takes longer than a pass: so many fewer passes without it."""


class Figures(msgspec.Struct):
    """Milliseconds of CPU, and what was sent."""

    remembered: float
    forgotten: float
    writes: int
    asked: int
    """Requests to nodes beyond one for each every five seconds."""


async def measure(passes: int) -> Figures:
    """Measure windows with a pass, and as many without."""
    async with rested() as (world, engine):
        (controller,) = (each for each in engine.controllers if each.name == "cosmos-fullnode")
        await asyncio.sleep(SETTLE_SECONDS)
        request = Request(NAME, NAMESPACE)

        def ask() -> None:
            controller.queue.add(request)

        await _windows(ask, passes // 4)
        world.cluster.server.audit.clear()
        before, began = world.nodes.answered, time.monotonic()
        idle = await _windows(lambda: None, passes)
        full = await _windows(ask, passes)
        lasted, answered = time.monotonic() - began, world.nodes.answered - before
        written = [each for each in world.writes() if each.resource != "cosmosfullnodes/status"]
        forgotten = [
            await _forgotten(ask, number) for number in range(max(passes // FORGETFUL_SHARE, 5))
        ]
        due = 3 * (lasted / 5 + 1)
        return Figures(
            (full - idle) * 1e3,
            (sum(forgotten) / len(forgotten) - idle) * 1e3,
            len(written),
            max(0, round(answered - due)),
        )


async def _windows(work: Callable[[], None], count: int) -> float:
    """CPU seconds of a window in which some work is done."""
    before = time.process_time()
    for _ in range(count):
        work()
        await asyncio.sleep(WINDOW_SECONDS)
    return (time.process_time() - before) / count


async def _forgotten(work: Callable[[], None], turn: int) -> float:
    for number in range(REMEMBERED):
        revision(ConfigMap(metadata=ObjectMeta(name=f"other-{turn}-{number}")))
    await asyncio.sleep(WINDOW_SECONDS)
    return await _windows(work, 1)


if __name__ == "__main__":
    import uvloop

    logs.configure(level="error")
    print(msgspec.json.encode(uvloop.run(measure(int(sys.argv[1])))).decode())
