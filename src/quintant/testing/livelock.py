"""Finds keys that go round while no virtual time passes, and names them with what they wrote.

A test would otherwise run for ever: time moves only when nothing is ready, and a reconcile that
wakes itself is always ready. A key counts from the moment at which time came to stand still.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator

from quintant.client.request_info import resource_path, verb_of
from quintant.core.object import Request
from quintant.runtime.manager.engine import Engine
from quintant.testing.faults.match import writes
from quintant.testing.faults.transport import FaultTransport
from quintant.testing.loop import VirtualLoop

# Reconciles of one key at one moment. An owner of hundreds of children is woken as often as they
# change; no test has a thousand of them.
MANY_RECONCILES = 1_000
# Writes that came less often than this are no part of the circle.
MANY_WRITES = 10
# Keys and writes that are named: a circle is small.
NAMED = 10

Counts = dict[tuple[str, Request], int]


class LivelockDetector:
    """Watches the controllers of managers that run under virtual time."""

    def __init__(self, requests: FaultTransport) -> None:
        self._requests = requests
        self._engines: list[Engine] = []
        self._registered = False
        self._moment = -1.0
        self._before: Counts = {}

    def watch(self, engine: Engine) -> None:
        """Count the reconciles of a manager from now on; under real time nothing is counted."""
        self._engines.append(engine)
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualLoop) and not self._registered:
            self._registered = True
            loop.add_progress_check(self._check)

    def unwatch(self, engine: Engine) -> None:
        """A manager stops."""
        self._engines.remove(engine)

    def _check(self, moment: float) -> str:
        counts = self._counts()
        if moment != self._moment:
            self._moment, self._before = moment, counts
        since: Counter[tuple[str, Request]] = Counter(
            {key: count - self._before.get(key, 0) for key, count in counts.items()}
        )
        if max(since.values(), default=0) < MANY_RECONCILES:
            return ""
        return "\n".join((*_keys(since), *self._writes(), _HINT))

    def _counts(self) -> Counts:
        return {
            (controller.name, key): count
            for engine in self._engines
            for controller in engine.controllers
            for key, count in controller.hot_loops.counts().items()
        }

    def _writes(self) -> Iterator[str]:
        """The latest writes that repeat, by what they were about; never what was in them."""
        sent: Counter[str] = Counter()
        for each in self._requests.calls:
            if writes(each.call):
                at = resource_path(each.call.path)
                plural = f"{at.plural}/{at.sub}" if at.sub else at.plural
                key = Request(at.name, at.namespace)
                sent[f"{verb_of(each.call)} {plural} {key}".rstrip()] += 1
        for write, times in sent.most_common(NAMED):
            if times >= MANY_WRITES:
                yield f"  {write} was sent {times} times"


_HINT = "try: write only what differs, ignore own writes with when=, or return Result(after=...)"


def _keys(counts: Counter[tuple[str, Request]]) -> Iterator[str]:
    for (controller, key), count in counts.most_common(NAMED):
        if count >= MANY_RECONCILES / 10:
            yield f"  {controller} {key} was reconciled {count} times"
