"""One run of a scenario: from a copied world to its record, on a virtual loop of its own."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, MutableSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar
from weakref import WeakSet

from quintant.core.errors import ConfigError, QuintantError, leaf_errors
from quintant.runtime.manager.manager import Manager
from quintant.testing.cluster import InProcessCluster
from quintant.testing.explore.injection.crash_states import CrashPoint
from quintant.testing.explore.injection.fault import FaultMode, RunToken
from quintant.testing.explore.injection.injector import Injector
from quintant.testing.explore.injection.supervisor import CrashLoop
from quintant.testing.explore.injection.trace import Trace
from quintant.testing.explore.remote import CALLER, Effect
from quintant.testing.explore.scenario import Scenario, check_managers
from quintant.testing.explore.simulation.garbage import collected_afterwards
from quintant.testing.explore.simulation.log_capture import captured_logs
from quintant.testing.explore.simulation.memo import RememberedSteps
from quintant.testing.explore.simulation.normalise import Normalised
from quintant.testing.explore.simulation.quiescence import NeverQuiet
from quintant.testing.explore.simulation.scenario_world import ScenarioWorld, ScriptEnded
from quintant.testing.loop import LoopStuck, VirtualLoop, run
from quintant.testing.pausable_loop import PausableLoop
from quintant.testing.world import World

T = TypeVar("T")
FINDINGS = (NeverQuiet, CrashLoop, QuintantError, AssertionError)
"""What tells about a run even if nothing disturbs it; anything else is a mistake in a script."""


@dataclass(slots=True)
class RunRecord:
    """What a run did, and what came of it."""

    token: RunToken
    trace: Trace
    states: list[Normalised] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    twice: list[Effect] = field(default_factory=list)
    stopped: str = ""
    """Why it did not come to its end; empty if it did."""
    failing: str = ""
    """Why the last reconcile that failed did so, if something does not hold."""
    unreached: list[str] = field(default_factory=list)
    deletes: Counter[str] = field(default_factory=Counter)
    """How many objects of each table the processes have deleted."""
    gone: str = ""
    """Who was deleted for good, by its table and key."""
    outside: set[Effect] = field(default_factory=set)
    """What exists in remotes at the end."""
    refused: set[str] = field(default_factory=set)
    """Calls that a remote refused."""
    crashes: dict[CrashPoint, bytes] = field(default_factory=dict)
    """What a crash at each point would leave, of a run without faults."""
    refusals: dict[int, str] = field(default_factory=dict)
    """What users applied and the server refused: why, by the number of the step."""
    answered: Counter[str] = field(default_factory=Counter)
    """How often each call of a remote was carried out."""

    @property
    def digest(self) -> str:
        return self.trace.digest


class ScenarioRunner:
    """Makes runs of one scenario."""

    def __init__(self, scenario: type[Scenario]) -> None:
        self.scenario = scenario
        self._used: MutableSet[Manager] = WeakSet()
        self._base: World | None = None
        self._steps = RememberedSteps()

    def run(self, token: RunToken = RunToken()) -> RunRecord:
        """Make one run; ConfigError if the scenario itself is wrong."""
        least = logging.DEBUG if self.scenario.secrets else logging.INFO
        with collected_afterwards(), captured_logs(least) as logs:
            record = apart(lambda: self._made(token))
        if record.violations and (why := logs.last_failure()):
            record.failing = self._without_secrets(why)
        for number, secret in enumerate(self.scenario.secrets, 1):
            if any(secret in line for line in logs.texts()):
                record.violations.append(f"secret {number} is in the logs")
        return record

    def prepared(self) -> World:
        """The world in which every run begins."""
        if self._base is None:
            self._base = run(self._prepared())
        return self._base

    def _without_secrets(self, text: str) -> str:
        return next(("a secret is in it" for each in self.scenario.secrets if each in text), text)

    def _made(self, token: RunToken) -> RunRecord:
        record, base = RunRecord(token, Trace()), self.prepared()
        try:
            run(self._run(record, base), loop=_loop(token))
        except LoopStuck as error:
            record.stopped = f"LoopStuck: {error}"
        return record

    async def _prepared(self) -> World:
        """The world in which every run begins: kinds installed, and what `prepare` made."""
        scenario, cluster = self.scenario(), InProcessCluster()
        world = ScenarioWorld(
            scenario,
            cluster,
            cluster.server.snapshot(),
            Injector((), Trace()),
            Trace(),
            used=WeakSet(),
        )
        for manager in check_managers(scenario.managers(world), self._used):
            await cluster.install(*manager.kinds())
        await scenario.prepare(cluster)
        await cluster.close()
        return cluster.snapshot()

    async def _run(self, record: RunRecord, base: World) -> None:
        token, trace, scenario = record.token, record.trace, self.scenario()
        injector = Injector(token.faults, trace)
        cluster = InProcessCluster(seed=token.seed, world=base, steps=self._steps)
        world = ScenarioWorld(
            scenario,
            cluster,
            cluster.server.snapshot(),
            injector,
            trace,
            token=token,
            replicas=_replicas(scenario, token),
            used=self._used,
        )
        try:
            await _play(scenario, world)
        except ConfigError:
            raise
        except Exception as error:
            # A script that goes on in another world may stumble over anything: that is a finding.
            if not isinstance(error, FINDINGS) and not token.faults:
                raise
            record.stopped = f"{type(error).__name__}: {error}"
        finally:
            for task in list(injector.calls):
                task.cancel()
        record.states = world.states
        record.violations = [*injector.deletions.violations, *world.violations.messages]
        record.twice = [each for model in world.remotes.values() for each in model.ledger.twice]
        record.unreached, record.deletes = injector.unreached, injector.deletions.counts
        record.outside = {each for it in world.remotes.values() for each in +it.ledger.live}
        record.gone, record.answered = injector.gone, injector.answered
        record.refused, record.crashes = injector.refused, injector.crashes.known
        record.refusals = world.refusals


def _replicas(scenario: Scenario, token: RunToken) -> int:
    """Who is to hand over needs a standby."""
    return max(scenario.replicas, 2 if token.elects else 1)


def _loop(token: RunToken) -> VirtualLoop:
    """A process can be paused on a loop that looks whose each callback is, which takes longer."""
    if any(each.mode in (FaultMode.PAUSE, FaultMode.EXPIRED) for each in token.faults):
        return PausableLoop(CALLER, seed=token.seed)
    return VirtualLoop(seed=token.seed)


def apart(work: Callable[[], T]) -> T:
    """Do work that runs loops of its own: in a thread of its own, where a loop runs already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


async def _play(scenario: Scenario, world: ScenarioWorld) -> None:
    """The script, beside everything that has to run; what ends one of them is raised."""
    background = [
        asyncio.ensure_future(work) for work in (world.supervisor.run(), world.collector.run())
    ]
    script = asyncio.ensure_future(_script(scenario, world))
    try:
        await asyncio.wait({script, *background}, return_when=asyncio.FIRST_COMPLETED)
        for task in (*background, *world.tasks, script):
            if task.done() and (error := task.exception()) is not None:
                raise leaf_errors(error)[0]
    finally:
        tasks = (script, *background, *world.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        world.trace.freeze()
        await world.cluster.close(graceful=not world.disturbed)


async def _script(scenario: Scenario, world: ScenarioWorld) -> None:
    try:
        await world.supervisor.started()
        await scenario.script(world)
        await world.finish()
    except ScriptEnded:
        return
    world.violations.check(scenario.settled, world)
