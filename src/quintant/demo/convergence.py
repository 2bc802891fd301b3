"""How a system of the demo comes up: installed, started, given its sample, seen to work.

One coroutine per system, all at once. Whoever shows it is told of every change; a system that does
not arrive in time says what it waits for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from quintant.api.apps import Deployment
from quintant.core.clock import monotonic
from quintant.core.errors import QuintantError
from quintant.demo.not_ready import not_ready_reasons, simulated_pods
from quintant.demo.systems import System
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.sample import SampleProgress

FIELD_MANAGER = "quintant-demo"
# Between two looks at a sample.
LOOK_SECONDS = 0.25


class StartupStage(Enum):
    """How far a system is."""

    WAITING = "waiting"
    INSTALLING = "installing"
    STARTING = "starting"
    CONVERGING = "converging"
    RUNNING = "running"
    FAILED = "failed"


ENDS = frozenset({StartupStage.RUNNING, StartupStage.FAILED})


@dataclass(frozen=True, slots=True)
class Progress:
    """What can be told of a system."""

    system: str
    stage: StartupStage = StartupStage.WAITING
    said: str = ""
    seconds: float = 0.0
    reasons: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    """What the sample tells beside, at the end."""


Report = Callable[[Progress], None]


@dataclass(slots=True)
class Convergence:
    """One system on its way."""

    system: System
    client: Client
    report: Report
    progress: Progress
    began: float

    @classmethod
    def of(cls, system: System, client: Client, report: Report) -> Convergence:
        """One that begins now."""
        return cls(system, client, report, Progress(system.name), monotonic())

    async def run(self, within: float) -> Progress:
        """Bring the system up; what became of it, in `within` seconds at most."""
        try:
            async with asyncio.timeout(within):
                await self._install()
                await self._start()
                await self._converge()
        except TimeoutError:
            await self._fail(f"not there after {within:g} s")
        except QuintantError as error:
            await self._fail(str(error).partition("\n")[0])
        return self.progress

    async def _install(self) -> None:
        self._tell(StartupStage.INSTALLING, "definitions, roles, operator")
        applier = Applier(self.client.rest, FIELD_MANAGER)
        await applier.apply(self.system.installation())

    async def _start(self) -> None:
        self._tell(StartupStage.STARTING, f"operator in {self.system.namespace}")
        await self.client.wait_for(
            Deployment,
            self.system.manager.name,
            self.system.namespace,
            until=_available,
            timeout=float("inf"),
        )

    async def _converge(self) -> None:
        sample = self.system.sample
        self._tell(StartupStage.CONVERGING, f"sample in {', '.join(sample.namespaces)}")
        applier = Applier(self.client.rest, FIELD_MANAGER, sample.namespace)
        await applier.apply((*map(_namespace, sample.namespaces), *sample.manifests))
        while not (progress := await self._look()).done:
            self._tell(StartupStage.CONVERGING, progress.said)
            await asyncio.sleep(LOOK_SECONDS)
        self.progress = replace(self.progress, lines=progress.lines)
        self._tell(StartupStage.RUNNING, progress.said)

    async def _look(self) -> SampleProgress:
        progress = await self.system.sample.look(self.client)
        pretending = await simulated_pods(self.client, self._namespaces())
        if progress.done and pretending:
            return SampleProgress(False, f"{pretending[0]} is only simulated")
        return progress

    async def _fail(self, said: str) -> None:
        found = await not_ready_reasons(self.client, self._namespaces())
        last = self.progress.said
        self.progress = replace(self.progress, reasons=(last, *found) if last else found)
        self._tell(StartupStage.FAILED, said)

    def _namespaces(self) -> tuple[str, ...]:
        return self.system.namespace, *self.system.sample.namespaces

    def _tell(self, stage: StartupStage, said: str) -> None:
        if (stage, said) != (self.progress.stage, self.progress.said):
            passed = monotonic() - self.began
            self.progress = replace(self.progress, stage=stage, said=said, seconds=passed)
            self.report(self.progress)


async def bring_up(
    systems: tuple[System, ...], client: Client, report: Report, within: float
) -> list[Progress]:
    """Bring systems up, all at once; what became of each."""
    runs = [Convergence.of(system, client, report) for system in systems]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each.run(within)) for each in runs]
    return [task.result() for task in tasks]


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _available(found: Deployment | None) -> bool:
    if found is None:
        return False
    fresh = found.status.observed_generation >= found.metadata.generation
    return fresh and found.status.available_replicas >= (found.spec.replicas or 1)
