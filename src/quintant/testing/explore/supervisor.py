"""Starts the processes under test, and starts again whichever is killed or ends.

A process is one manager. What is started anew is made anew: nothing that a manager knew in memory
outlives it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from quintant.client.transport import InProcessTransport
from quintant.core.clock import Random
from quintant.core.errors import LeadershipLost, leaf_errors
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.manager import Manager
from quintant.testing.cluster import InProcessCluster
from quintant.testing.explore.process import Disturbance, ManagerProcess
from quintant.testing.explore.remote import CALLER
from quintant.testing.explore.trace import Trace

# A process that ends by itself so often is broken, and not in trouble.
MOST_ENDS = 5


class CrashLoop(Exception):
    """A manager ends again and again by itself."""


class Supervisor:
    """Keeps processes running until it is cancelled."""

    def __init__(
        self,
        cluster: InProcessCluster,
        make: Callable[[], list[Manager]],
        disturbance: Disturbance,
        trace: Trace,
        *,
        restart_after: float,
        seed: int,
    ) -> None:
        self._cluster, self._make = cluster, make
        self._disturbance, self._trace = disturbance, trace
        self._restart_after, self._seed = restart_after, seed
        self._processes: dict[int, ManagerProcess] = {}
        self._all_run = asyncio.Event()
        self._starts = 0
        self._ends = 0
        self._count = 1
        """How many processes there are to be; not known before the first were made."""

    @property
    def restarting(self) -> bool:
        """Whether a process is not running that should."""
        return len(self._processes) < self._count

    def engines(self) -> Iterable[Engine]:
        """The managers that run, in the order in which the scenario made them."""
        found = (self._processes[index].engine for index in sorted(self._processes))
        return [each for each in found if each is not None]

    async def run(self) -> None:
        """Run everything until cancelled."""
        first = self._make()
        self._count = len(first)
        async with asyncio.TaskGroup() as group:
            for index, manager in enumerate(first):
                group.create_task(self._keep(index, manager))

    async def started(self) -> None:
        """Return when every manager is at work for the first time."""
        await self._all_run.wait()
        for engine in self.engines():
            await engine.started.wait()

    async def restart(self) -> None:
        """Stop every process in order, and let it be started again."""
        for process in list(self._processes.values()):
            process.stopping = True
            process.ending.set()
        await asyncio.sleep(0)

    async def _keep(self, index: int, manager: Manager) -> None:
        while True:
            await self._live(index, manager)
            await asyncio.sleep(self._restart_after)
            manager = self._make()[index]
            self._trace.tell(f"  {manager.name} starts again")

    async def _live(self, index: int, manager: Manager) -> None:
        """One life of a process, to its end."""
        inner = InProcessTransport(self._cluster.server)
        process = ManagerProcess(index, inner, self._disturbance, self._trace)
        # Every task of the manager is started from here, and so knows whose it is.
        CALLER.set(process)
        environment = Environment(process, self._cluster.clock, self._random())
        process.engine = await self._cluster.run(manager, environment=environment, started=False)
        self._processes[index] = process
        if not self.restarting:
            self._all_run.set()
        ended = asyncio.ensure_future(self._cluster.wait_ended(process.engine))
        killed = asyncio.ensure_future(process.ending.wait())
        try:
            await asyncio.wait({ended, killed}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                self._note_end(manager, ended.exception())
            elif process.stopping:
                await self._cluster.stop(process.engine)
            else:
                await self._cluster.crash(process.engine)
        finally:
            del self._processes[index]
            for task in (ended, killed):
                task.cancel()
            await asyncio.gather(ended, killed, return_exceptions=True)

    def _note_end(self, manager: Manager, error: BaseException | None) -> None:
        told = "; ".join(map(str, leaf_errors(error))) if error else "nothing more to do"
        self._trace.tell(f"  {manager.name} ends: {told}")
        if error and all(isinstance(each, LeadershipLost) for each in leaf_errors(error)):
            return
        self._ends += 1
        if self._ends >= MOST_ENDS:
            raise CrashLoop(f"manager {manager.name!r} ended {self._ends} times: {told}")

    def _random(self) -> Random:
        self._starts += 1
        return Random(f"process {self._starts} of {self._seed}")
