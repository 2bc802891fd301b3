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
from quintant.testing.explore.injection.in_process_manager import InProcessManager
from quintant.testing.explore.injection.leases import LeaseTable
from quintant.testing.explore.injection.members import unserved
from quintant.testing.explore.injection.process import Disturbance
from quintant.testing.explore.injection.trace import Trace
from quintant.testing.explore.remote import CALLER

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
        replicas: int = 1,
    ) -> None:
        """With more than one of `replicas`, each program's replicas elect a leader."""
        self._cluster, self._make = cluster, make
        self._disturbance, self._trace = disturbance, trace
        self._restart_after, self._seed, self._replicas = restart_after, seed, replicas
        self._processes: dict[tuple[int, int], InProcessManager] = {}
        """By the number of the program, and of the replica."""
        self._all_run = asyncio.Event()
        self._leases = LeaseTable()
        self._starts = 0
        self._ends = 0
        self._joined = 0
        self._count = 1
        """How many processes there are to be; not known before the first were made."""

    @property
    def restarting(self) -> bool:
        """Whether there is a program, or a range of one that is sharded, that nobody works for; or
        a process stands still."""
        if any(each.paused for each in self._processes.values()):
            return True
        working = self._working()
        if len({each.index for each in working}) < self._count:
            return True
        return any(unserved(_engines_of(working, index)) for index in range(self._count))

    def engines(self) -> Iterable[Engine]:
        """The managers that work, in the order in which the scenario made them."""
        return [each.engine for each in self._working() if each.engine is not None]

    async def run(self) -> None:
        """Run everything until cancelled."""
        first = [self._make() for _ in range(self._replicas)]
        self._count = len(first[0])
        async with asyncio.TaskGroup() as group:
            self._group = group
            for replica, managers in enumerate(first):
                for index, manager in enumerate(managers):
                    group.create_task(self._keep(index, replica, manager))

    async def started(self) -> None:
        """Return when every manager is at work for the first time."""
        await self._all_run.wait()
        # One that is killed as it starts is started again, and waited for.
        while True:
            starting = [each for each in self._processes.values() if not _has_started(each)]
            if starting:
                await _started_or_ended(starting[0])
            elif len(self._processes) < self._count * self._replicas:
                await asyncio.sleep(self._restart_after)
            else:
                return

    async def restart(self) -> None:
        """Stop every process in order, and let it be started again."""
        for process in list(self._processes.values()):
            process.stopping = True
            process.ending.set()
        await asyncio.sleep(0)

    def crash(self, program: int) -> None:
        """Kill every process of a program; each is started again."""
        for (index, _), process in list(self._processes.items()):
            if index == program:
                process.kill()

    def join(self, program: int) -> None:
        """Start one more process of a program, for good."""
        self._joined += 1
        replica = self._replicas + self._joined - 1
        self._group.create_task(self._keep(program, replica, self._make()[program]))

    def _working(self) -> list[InProcessManager]:
        return [
            self._processes[at] for at in sorted(self._processes) if self._processes[at].working
        ]

    async def _keep(self, index: int, replica: int, manager: Manager) -> None:
        while True:
            if self._replicas > 1:
                manager.configure(leader_elect=True)
            away = await self._live(index, replica, manager)
            await asyncio.sleep(max(away, self._restart_after))
            manager = self._make()[index]
            self._trace.tell(f"  {manager.name} starts again")

    async def _live(self, index: int, replica: int, manager: Manager) -> float:
        """One life of a process, to its end; seconds for which it stays away."""
        inner = InProcessTransport(self._cluster.server)
        process = InProcessManager(
            index, inner, self._disturbance, self._trace, self._leases, self._cluster.clock
        )
        # Every task of the manager is started from here, and so knows whose it is.
        CALLER.set(process)
        environment = Environment(
            process, process.clock, self._random(), connect=self._cluster.connect
        )
        process.engine = await self._cluster.run(manager, environment=environment, started=False)
        self._processes[index, replica] = process
        if len(self._processes) == self._count * self._replicas:
            self._all_run.set()
        ended = asyncio.ensure_future(self._cluster.wait_ended(process.engine))
        killed = asyncio.ensure_future(process.ending.wait())
        try:
            await asyncio.wait({ended, killed}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                self._note_end(manager, ended.exception())
            elif process.stopping:
                await self._stop(manager, process.engine)
            else:
                await self._cluster.crash(process.engine)
        finally:
            del self._processes[index, replica]
            for task in (ended, killed):
                task.cancel()
            await asyncio.gather(ended, killed, return_exceptions=True)
        return process.away

    async def _stop(self, manager: Manager, engine: Engine) -> None:
        """Stop a process in order, which may lose its lease on the way."""
        try:
            await self._cluster.stop(engine)
        except Exception as error:
            # Who watches over processes owns recovery: it is started again in any case.
            self._note_end(manager, error)

    def _note_end(self, manager: Manager, error: BaseException | None) -> None:
        message = "; ".join(map(str, leaf_errors(error))) if error else "nothing more to do"
        self._trace.tell(f"  {manager.name} ends: {message}")
        if error and all(isinstance(each, LeadershipLost) for each in leaf_errors(error)):
            return
        self._ends += 1
        if self._ends >= MOST_ENDS:
            raise CrashLoop(f"manager {manager.name!r} ended {self._ends} times: {message}")

    def _random(self) -> Random:
        self._starts += 1
        return Random(f"process {self._starts} of {self._seed}")


def _engines_of(working: Iterable[InProcessManager], index: int) -> list[Engine]:
    return [each.engine for each in working if each.index == index and each.engine is not None]


def _has_started(process: InProcessManager) -> bool:
    assert process.engine is not None, "a process that runs has an engine"
    return process.engine.started.is_set()


async def _started_or_ended(process: InProcessManager) -> None:
    assert process.engine is not None, "a process that runs has an engine"
    events = (process.engine.started, process.ending)
    waiting = [asyncio.ensure_future(each.wait()) for each in events]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    # One that ends is forgotten a moment later, when its tasks have ended.
    await asyncio.sleep(0)
