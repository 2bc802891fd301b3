"""One simulation, from its start to its end, under virtual time."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from quintant.core.errors import leaf_errors
from quintant.testing.loop import run
from quintant.testing.simulate.disturbances import ClusterDisturbances, carry_out
from quintant.testing.simulate.plan import DAY_SECONDS, periods, plan
from quintant.testing.simulate.program import SimulatedOperator
from quintant.testing.simulate.systems import SYSTEMS
from quintant.testing.simulate.systems.system import SimulatedSystem
from quintant.testing.simulate.world import SimulatedWorld

GARBAGE_SECONDS = 1800.0
"""Of virtual time, between two searches for garbage."""


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """What is simulated."""

    seed: int = 1
    days: float = 1.0
    operators: Sequence[str] = tuple(sorted(SYSTEMS))
    nodes: int = 50
    until: float | None = None
    """Seconds at which it ends, though it was planned for longer; None is its end."""


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """What came of a simulation."""

    seed: int
    seconds: float
    """Of virtual time."""
    writes: int
    digest: str
    violations: tuple[str, ...]
    reached: dict[str, int]
    """What is to happen sometime, and how often it did."""
    objects: tuple[str, ...]
    """What there was of the operators' kinds at the end."""


def simulate(
    options: SimulationOptions, show: Callable[[str], None] = lambda line: None
) -> SimulationReport:
    """Make a simulation; `show` is given each line of its timeline."""
    with _collected_at_rest():
        return run(_Simulation(options, show).run(), seed=options.seed)


@contextmanager
def _collected_at_rest() -> Iterator[None]:
    """Search for garbage when the simulation says so: what ends then ends in the same order.

    What is there when it begins to live, modules and schemas above all, is not looked at again.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.enable()
        gc.collect()


class _Simulation:
    def __init__(self, options: SimulationOptions, show: Callable[[str], None]) -> None:
        self._options, self._show = options, show
        self._seconds = options.days * DAY_SECONDS

    async def run(self) -> SimulationReport:
        options = self._options
        self._world = world = SimulatedWorld(options.seed, options.nodes, self._show)
        systems = {name: SYSTEMS[name](world) for name in sorted(options.operators)}
        programs = {name: self._program(each) for name, each in systems.items()}
        async with world.running():
            for name, each in systems.items():
                await world.cluster.install(*each.manager().kinds())
                await each.begin()
                world.timeline.tell(f"{name} begins")
            gc.freeze()
            await self._live(systems, programs)
        await world.cluster.close(graceful=False)
        return self._report(systems)

    def _program(self, system: SimulatedSystem) -> SimulatedOperator:
        seed, violate = f"seed {self._options.seed}", self._world.assertions.violate
        return SimulatedOperator(self._world.cluster, system.manager, seed, violate)

    async def _live(
        self, systems: dict[str, SimulatedSystem], programs: dict[str, SimulatedOperator]
    ) -> None:
        script = asyncio.ensure_future(self._script(systems, programs))
        tasks = [asyncio.ensure_future(each.run()) for each in programs.values()]
        try:
            await asyncio.wait({script, *tasks}, return_when=asyncio.FIRST_COMPLETED)
            for task in (*tasks, script):
                if task.done() and (error := task.exception()) is not None:
                    raise leaf_errors(error)[0]
        finally:
            for task in (script, *tasks):
                task.cancel()
            await asyncio.gather(script, *tasks, return_exceptions=True)

    async def _script(
        self, systems: dict[str, SimulatedSystem], programs: dict[str, SimulatedOperator]
    ) -> None:
        disturbances = ClusterDisturbances(self._world, programs).all()
        for system in systems.values():
            disturbances += system.disturbances()
        begins = {each.occurrence.name: each.begin for each in disturbances}
        planned = plan(
            self._options.seed, self._seconds, [each.occurrence for each in disturbances]
        )
        until = self._options.until
        end = self._seconds if until is None else min(until, self._seconds)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(carry_out(each, begins[each.name])) for each in planned]
            tasks.append(group.create_task(_collect_garbage()))
            await self._look(end)
            for task in tasks:
                task.cancel()

    async def _look(self, end: float) -> None:
        """Look at everything at the end of each calm, until all is over."""
        loop = asyncio.get_running_loop()
        for period in periods(self._seconds):
            await asyncio.sleep(max(0.0, min(period.ends, end) - loop.time()))
            if period.ends > end:
                break
            self._world.assertions.rest()
            self._world.timeline.tell("at rest")

    def _report(self, systems: dict[str, SimulatedSystem]) -> SimulationReport:
        world = self._world
        return SimulationReport(
            self._options.seed,
            asyncio.get_running_loop().time(),
            world.timeline.changes,
            world.timeline.digest,
            tuple(world.assertions.violations),
            dict(world.assertions.reached),
            tuple(line for each in systems.values() for line in each.objects()),
        )


async def _collect_garbage() -> None:
    """Search for garbage now and then: memory stays flat, and no address decides when."""
    while True:
        await asyncio.sleep(GARBAGE_SECONDS)
        gc.collect()
