"""Tasks beside the controllers, kept running: what one raises is its own failure.

A runnable talks to the outside as a source does: what it was answered, and could not digest, would
be answered to the next process as well. So it is begun again after a second, two, four, up to a
minute, reported as a source is, and named on `/readyz?verbose` meanwhile. One that raises before it
waited for anything has heard nothing from anybody: that is a mistake in the program, and ends it.
ConfigError does so, too: it says that the user has to change something first. AddressInUse does
not: the other process may be the replica before this one, and the address is free when it ends.
"""

from __future__ import annotations

import asyncio

from quintant.core.clock import Random
from quintant.core.errors import AddressInUse, ConfigError
from quintant.core.text import one_line
from quintant.runtime.cache.client import Client
from quintant.runtime.controller.async_functions import function_name
from quintant.runtime.manager.declarations import Runnable
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.source.failures import FailureReport, begin_again


class Runnables:
    """Keeps the runnables of one process."""

    def __init__(self, client: Client, random: Random, metrics: Metrics) -> None:
        self._client, self._random, self._metrics = client, random, metrics
        self._failed: dict[str, str] = {}

    async def keep(self, runnable: Runnable) -> None:
        """Run one until it is over or cancelled."""
        name, report = function_name(runnable.run), FailureReport()
        count, waited = self._metrics.runnable_failed(name), asyncio.Event()

        async def run() -> None:
            self._failed.pop(name, None)
            turn = asyncio.get_running_loop().call_soon(waited.set)
            try:
                await runnable.run(self._client)
            finally:
                turn.cancel()

        def failed(error: BaseException) -> bool:
            if not waited.is_set() or _is_mistake(error):
                return False
            self._failed[name] = one_line(f"{type(error).__name__}: {error}")
            report.failed(count, "a runnable failed and is begun again", error, runnable=name)
            return True

        await begin_again(run, failed, report.passed, self._random)

    def failed(self) -> str:
        """Those that wait until they are begun again, and why; empty if there are none."""
        return "; ".join(f"{name}: {why}" for name, why in self._failed.items())


def _is_mistake(error: BaseException) -> bool:
    return isinstance(error, ConfigError) and not isinstance(error, AddressInUse)
