"""Rest: after the last step of a script there is nothing to do, and so nobody may do anything.

Every object is looked at again, as by a resync, and the world is left alone for a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from quintant.core.clock import monotonic
from quintant.runtime.controller.controller import Controller
from quintant.runtime.manager.engine import Engine
from quintant.testing.explore.injection.trace import Point, PointKind, Trace

# For how long the world has to write nothing.
REST_SECONDS = 60.0
# The same for disturbed runs, of which there are many.
DISTURBED_REST_SECONDS = 10.0
EVENTS = " events.events.k8s.io "
HOT_LOOP = "hot loop: "
FAILS_AGAIN = " fails again and again"


async def rest_violations(
    engines: Callable[[], Iterable[Engine]], trace: Trace, *, disturbed: bool
) -> list[str]:
    """Who writes, fails, or works without rest, although there is nothing to do."""
    before = trace.count(PointKind.WRITE)
    rest = DISTURBED_REST_SECONDS if disturbed else REST_SECONDS
    trace.tell(f"  {rest:g} s of rest, and a resync")
    for controller in _controllers(engines()):
        controller.resync()
    await asyncio.sleep(rest)
    writes = trace.of(PointKind.WRITE)[before:]
    return [*_failing(engines()), *_writing(writes, rest), *_spinning(engines())]


def _failing(engines: Iterable[Engine]) -> Iterator[str]:
    for controller in _controllers(engines):
        for key in filter(controller.failures, controller.queue.due()):
            yield f"{controller.name} {key}{FAILS_AGAIN}"


def _writing(writes: Iterable[Point], rest: float) -> Iterator[str]:
    # An event that could not be written is written later: that is no work of a controller.
    late = [each for each in writes if EVENTS not in each.text]
    if late:
        count = f"{len(late)} write{'s' * (len(late) > 1)}"
        yield f"{HOT_LOOP}{count} in {rest:g} s of rest, first {late[0].text}"


def _spinning(engines: Iterable[Engine]) -> Iterator[str]:
    for controller in _controllers(engines):
        for key, times in controller.hot_loops.hot(monotonic()).items():
            yield f"{HOT_LOOP}{controller.name} {key} was reconciled {times} times"


def _controllers(engines: Iterable[Engine]) -> Iterator[Controller[Any]]:
    for engine in engines:
        yield from engine.controllers
