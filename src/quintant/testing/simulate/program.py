"""An operator in a simulation: two replicas that compete for a lease, killed and rolled out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from quintant.client.transport import InProcessTransport
from quintant.core.clock import Random
from quintant.core.errors import LeadershipLost, leaf_errors
from quintant.runtime.leader.elector import ElectorState
from quintant.runtime.leader.lease import LeaseTimes
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.manager import Manager
from quintant.runtime.watch.timeouts import Timers
from quintant.testing.cluster import InProcessCluster
from quintant.testing.explore.remote import CALLER
from quintant.testing.simulate.transport import ProcessTransport

LEASE = LeaseTimes(duration=150.0, renew=100.0, retry=40.0)
"""Seldom renewed: hours of renewals would take longer than everything else."""
BOOKMARK_SECONDS = 600.0
"""Between bookmarks of a watch: there are hundreds of watches, of which nearly all are silent."""
WATCH = Timers(life=(21_600.0, 43_200.0), silence=2 * BOOKMARK_SECONDS)
"""Connections that last: hundreds of them, and how one ends is a disturbance of its own."""
RESTART_SECONDS = 5.0
REPLICAS = 2


@dataclass(slots=True, eq=False)
class Replica:
    """One life of a process."""

    transport: ProcessTransport
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    graceful: bool = False
    engine: Engine | None = None

    @property
    def leads(self) -> bool:
        """Whether it does what there is to do."""
        elector = self.engine.elector if self.engine is not None else None
        return elector is not None and elector.state is ElectorState.LEADING

    def end(self, *, graceful: bool) -> None:
        """Have it end: in order, or at once."""
        self.graceful = graceful
        self.ending.set()


class SimulatedOperator:
    """Keeps the replicas of an operator running."""

    def __init__(
        self,
        cluster: InProcessCluster,
        make: Callable[[], Manager],
        seed: str,
        ended: Callable[[str], None],
    ) -> None:
        """`make` makes a manager for each life; `ended` is told who ends by itself."""
        self._cluster, self._make, self._ended = cluster, make, ended
        self._seed, self._lives = seed, 0
        self.replicas: dict[int, Replica] = {}

    async def run(self) -> None:
        """Keep all replicas until cancelled."""
        async with asyncio.TaskGroup() as group:
            for number in range(REPLICAS):
                group.create_task(self._keep(number))

    def leader(self) -> Replica | None:
        """Who leads now, if anybody does."""
        return next((self.replicas[at] for at in sorted(self.replicas) if self._leads(at)), None)

    def cut_off_leader(self) -> Callable[[], None] | None:
        """Let the leader reach nothing; what connects it again, or None if there is none."""
        leader = self.leader()
        if leader is None:
            return None
        leader.transport.cut_off()
        return leader.transport.reconnect

    def break_watches(self) -> None:
        """End every open watch."""
        for replica in self.replicas.values():
            replica.transport.break_watches()

    def crash(self) -> None:
        """Kill every replica."""
        for replica in self.replicas.values():
            replica.end(graceful=False)

    async def roll_out(self) -> None:
        """End one after the other in order, as a Deployment does."""
        for number in sorted(self.replicas):
            if number in self.replicas:
                self.replicas[number].end(graceful=True)
            await asyncio.sleep(2 * LEASE.duration)

    def _leads(self, number: int) -> bool:
        return self.replicas[number].leads

    async def _keep(self, number: int) -> None:
        while True:
            await self._live(number)
            await asyncio.sleep(RESTART_SECONDS)

    async def _live(self, number: int) -> None:
        self._lives += 1
        manager = self._make()
        manager.configure(leader_elect=True, lease=LEASE, watch=WATCH)
        replica = Replica(ProcessTransport(InProcessTransport(self._cluster.server)))
        CALLER.set(replica.transport)
        random = Random(f"{self._seed} {manager.name} {self._lives}")
        environment = Environment(
            replica.transport, self._cluster.clock, random, connect=self._cluster.connect
        )
        engine = await self._cluster.run(manager, environment=environment, started=False)
        replica.engine, self.replicas[number] = engine, replica
        killed = asyncio.ensure_future(replica.ending.wait())
        ended = asyncio.ensure_future(self._cluster.wait_ended(engine))
        try:
            await asyncio.wait({killed, ended}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                self._note(manager, ended.exception())
            else:
                await self._end(manager, replica, engine)
        finally:
            self.replicas.pop(number, None)
            for task in (killed, ended):
                task.cancel()
            await asyncio.gather(killed, ended, return_exceptions=True)

    async def _end(self, manager: Manager, replica: Replica, engine: Engine) -> None:
        if not replica.graceful:
            await self._cluster.crash(engine)
            return
        try:
            await self._cluster.stop(engine)
        except Exception as error:
            # Who keeps processes owns recovery: what it ended with is told, and it starts again.
            self._note(manager, error)

    def _note(self, manager: Manager, error: BaseException | None) -> None:
        causes = leaf_errors(error) if error is not None else []
        if causes and all(isinstance(each, LeadershipLost) for each in causes):
            return
        why = "; ".join(f"{type(each).__name__}: {each}" for each in causes) or "nothing to do"
        self._ended(f"{manager.name} ended by itself: {why}")
