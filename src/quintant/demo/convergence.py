"""How a system of the demo comes up: installed, started, given its sample, seen to work.

One coroutine per system, all at once. Every change is reported; a system that does not arrive in
time says what it waits for, by what its pods and Deployments complain about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from quintant.api.apps import Deployment
from quintant.api.core import Node, Pod
from quintant.cluster.common.labels import POD, SIMULATED
from quintant.core.clock import monotonic
from quintant.core.errors import QuintantError
from quintant.core.object import Metadata
from quintant.demo.systems import System
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.sample import SampleProgress

FIELD_MANAGER = "quintant-demo"
# Between two looks at a sample.
LOOK_SECONDS = 0.25
# Why a system does not come up, a line each: more would bury what matters.
MOST_REASONS = 6


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
    """What is known of a system."""

    system: str
    stage: StartupStage = StartupStage.WAITING
    message: str = ""
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
            self._tell(StartupStage.CONVERGING, progress.message)
            await asyncio.sleep(LOOK_SECONDS)
        self.progress = replace(self.progress, lines=progress.lines)
        self._tell(StartupStage.RUNNING, progress.message)

    async def _look(self) -> SampleProgress:
        progress = await self.system.sample.look(self.client)
        pretending = await simulated_pods(self.client, self._namespaces())
        if progress.done and pretending:
            return SampleProgress(False, f"{pretending[0]} is only simulated")
        return progress

    async def _fail(self, message: str) -> None:
        found = await not_ready_reasons(self.client, self._namespaces())
        last = self.progress.message
        self.progress = replace(self.progress, reasons=(last, *found) if last else found)
        self._tell(StartupStage.FAILED, message)

    def _namespaces(self) -> tuple[str, ...]:
        return self.system.namespace, *self.system.sample.namespaces

    def _tell(self, stage: StartupStage, message: str) -> None:
        if (stage, message) != (self.progress.stage, self.progress.message):
            passed = monotonic() - self.began
            self.progress = replace(self.progress, stage=stage, message=message, seconds=passed)
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


def _available(deployment: Deployment | None) -> bool:
    if deployment is None:
        return False
    fresh = deployment.status.observed_generation >= deployment.metadata.generation
    return fresh and deployment.status.available_replicas >= (deployment.spec.replicas or 1)


async def simulated_pods(client: Client, namespaces: Iterable[str]) -> list[str]:
    """The pods that only look as if they ran; on a simulated node there are no others."""
    pods = [pod for each in namespaces for pod in await client.list(Pod, each, live=True)]
    found = await client.list(Metadata[Node], labels={SIMULATED: "true"}, live=True)
    nodes = {node.metadata.name for node in found}
    return [
        f"pod {pod.metadata.namespace}/{pod.metadata.name}"
        for pod in pods
        if POD in pod.metadata.annotations and pod.spec.node_name not in nodes
    ]


async def not_ready_reasons(client: Client, namespaces: Iterable[str]) -> tuple[str, ...]:
    """What is wrong there, as far as can be seen."""
    found: list[str] = []
    for namespace in namespaces:
        pods = await client.list(Pod, namespace, live=True)
        found += [text for pod in pods for text in _of_pod(pod)]
        if not pods:
            deployments = await client.list(Deployment, namespace, live=True)
            found += [text for each in deployments for text in _of_deployment(each)]
    return tuple(found[:MOST_REASONS])


def _of_pod(pod: Pod) -> Iterator[str]:
    name = f"pod {pod.metadata.namespace}/{pod.metadata.name}"
    states = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    if not states and not pod.ready:
        yield f"{name}: {pod.status.phase or 'Pending'} {_unmet(pod)}".rstrip()
    for each in states:
        if each.ready:
            continue
        waiting, ended = each.state.waiting, each.last_state.terminated or each.state.terminated
        why = f"{waiting.reason} {waiting.message}".strip() if waiting else "not ready"
        code = f"; it ended with {ended.exit_code} ({ended.reason})" if ended else ""
        yield f"{name}, container {each.name}: {why}{code}"


def _unmet(pod: Pod) -> str:
    for condition in pod.status.conditions:
        if condition.status != "True" and condition.message:
            return f"({condition.message})"
    return ""


def _of_deployment(deployment: Deployment) -> Iterator[str]:
    name = f"deployment {deployment.metadata.namespace}/{deployment.metadata.name}"
    for condition in deployment.status.conditions:
        if condition.type == "ReplicaFailure" or condition.status == "False":
            yield f"{name}: {condition.reason} {condition.message}".rstrip()
