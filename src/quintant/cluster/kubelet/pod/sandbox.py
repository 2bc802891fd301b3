"""PodSandbox: one pod on this machine: folder, address, lifecycles and programs.

The worker shows it the pod, has it `advance` (plan, act, until there is nothing to do), and asks
it what became of the pod. What happens meanwhile goes into its inbox and wakes; nothing changes
outside of `advance`, so a pod is worked on by one task at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Final, Literal

from quintant.api.container import Container
from quintant.api.pod import Pod
from quintant.cluster.host.remove_tree import discard_folder
from quintant.cluster.kubelet.container import lifecycle_events
from quintant.cluster.kubelet.container.command import runtime_config
from quintant.cluster.kubelet.container.downward_api import DownwardSource
from quintant.cluster.kubelet.container.env import ContainerConfigError, EnvSources
from quintant.cluster.kubelet.container.exec_hooks import HandlerRunner
from quintant.cluster.kubelet.container.lifecycle import ContainerLifecycle, LifecycleState, step
from quintant.cluster.kubelet.container.lifecycle_events import ProbeType
from quintant.cluster.kubelet.container.run import ContainerRun, PodEvent, RunEvent, start_container
from quintant.cluster.kubelet.container.visit_containers import visit_containers
from quintant.cluster.kubelet.logs.files import ContainerLog, ContainerLogs
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.pod.plan import (
    Action,
    KillContainer,
    PodActions,
    RestartContainer,
    StartContainer,
    StopContainer,
    Termination,
    compute_pod_actions,
)
from quintant.cluster.kubelet.pod.restore import restored_lifecycles
from quintant.cluster.kubelet.pod.status import PodRecord, full_name
from quintant.cluster.kubelet.probe.loop import ProbeResult
from quintant.cluster.kubelet.process.protocols import ProgramNotFound, StartError
from quintant.cluster.kubelet.volume.claim_sizes import ClaimSize
from quintant.cluster.kubelet.volume.mounts import Files, VolumeFolders, container_root
from quintant.cluster.kubelet.volume.projected import MountError

_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (ContainerConfigError, "CreateContainerConfigError"),
    (MountError, "CreateContainerError"),
    (ProgramNotFound, "ErrImageNeverPull"),
    (StartError, "RunContainerError"),
)
"""Why a container waits that could not be started; the first that fits."""


class Sandbox:
    """One pod on this machine."""

    def __init__(
        self, pod: Pod, node: NodeContext, group: asyncio.TaskGroup, wake: Callable[[], None]
    ) -> None:
        self.pod: Pod = pod
        self.node = node
        self._group, self._wake = group, wake
        self.folder: Final = node.folder / "pods" / pod.metadata.uid
        self.address: str = _address(pod, node)
        self.since: datetime = node.clock.now()
        self.lifecycles: dict[str, ContainerLifecycle] = restored_lifecycles(pod, node.now())
        self.termination: Termination | None = None
        """What makes the pod end, if anything does."""
        self.running: dict[str, ContainerRun] = {}
        self.published: dict[str, Files] = {}
        """The files of its volumes that follow an object, by the volume."""
        self.sizes: dict[str, ClaimSize] = {}
        """How large the claims are behind its volumes, by the volume."""
        self.finished: bool = False
        """Whether nothing of the pod runs, or will again."""
        self._logs = ContainerLogs(self.folder / "logs", node.clock)
        self._inbox: list[tuple[str, str, RunEvent]] = []
        self._events: list[PodEvent] = []
        self._refused: dict[str, object] = {}

    @property
    def containers(self) -> Mapping[str, Container]:
        """The pod's containers by name, those that prepare it first."""
        return {each.name: each for each in visit_containers(self.pod.spec)}

    @property
    def about(self) -> DownwardSource:
        """What the pod may know of itself."""
        node = self.node
        return DownwardSource(self.pod, self.address, node.host, node.name, node.allocatable)

    def update_pod(self, pod: Pod) -> None:
        """Take the pod as it is now; ephemeral containers may have been added to it."""
        self.pod = pod
        for added in pod.spec.ephemeral_containers:
            self.lifecycles.setdefault(added.name, ContainerLifecycle())

    def record(self) -> PodRecord:
        """What the pod's status is made of."""
        programs = {
            name: " ".join(found.argv) or each.image
            for name, each in self.containers.items()
            if (found := self.node.images.find(each))
        }
        host = self.node.host
        return PodRecord(
            self.pod, self.lifecycles, programs, self.termination, self.address, host, self.since
        )

    async def advance(self, sources: EnvSources, versions: object) -> PodActions:
        """Do what the pod needs, until it needs nothing more now.

        `versions` says which state of the pod's references this is: what was missing in the same
        state is not tried again before its time.
        """
        for name in [name for name, seen in self._refused.items() if seen != versions]:
            del self._refused[name]
            self._step(name, lifecycle_events.RetryNow())
        for name, each in self.running.items():
            if each.container.image != self.containers[name].image:
                self._step(name, lifecycle_events.ImageChanged())
        while True:
            self._apply_run_events()
            wanted = compute_pod_actions(
                self.pod.spec, self.lifecycles, self.termination, self.node.now().mono
            )
            if not wanted.actions:
                return wanted
            for action in wanted.actions:
                await self._act(action, sources, versions)

    def add_event(
        self, type: Literal["Normal", "Warning"], reason: str, message: str, container: str = ""
    ) -> None:
        """Have the pod's events tell something."""
        self._events.append(PodEvent(type, reason, message, container))

    def take_events(self) -> list[PodEvent]:
        """What there is to tell since the last call."""
        notes, self._events = self._events, []
        return notes

    def container_log(self, name: str, *, previous: bool) -> ContainerLog | None:
        """The output of a container, or of its run before; None if there is none."""
        lifecycle = self.lifecycles[name]
        last = lifecycle.last_exit.id if lifecycle.last_exit else ""
        return self._logs.find(name, last if previous else lifecycle.id or last)

    def finish(self) -> None:
        """Give back what only a running pod needs; its output stays."""
        if self.finished:
            return
        self.finished = True
        if not self.pod.spec.host_network:
            self.node.addresses.free(self.address)
        for part in ("containers", "volumes"):
            discard_folder(self.folder / part)

    def close(self) -> None:
        """Remove everything of the pod; nothing of it runs any more."""
        self.finish()
        self._logs.close()
        discard_folder(self.folder)

    async def _act(self, action: Action, sources: EnvSources, versions: object) -> None:
        match action:
            case StartContainer(name):
                await self._start(name, sources, versions)
            case RestartContainer(name):
                self._restart(name)
            case StopContainer(name, until, note):
                self._stop(name, until, note)
            case KillContainer(name):
                self._step(name, lifecycle_events.Killed())
                self.running[name].kill()

    async def _start(self, name: str, sources: EnvSources, versions: object) -> None:
        try:
            started = await self._new_run(self.containers[name], sources)
        except (ContainerConfigError, MountError, StartError) as error:
            reason = next(word for sort, word in _REASONS if isinstance(error, sort))
            self._start_failed(name, reason, str(error), versions)
            return
        container = started.container
        self.running[name] = started
        self._refused.pop(name, None)
        up, unasked = container.startup_probe is None, container.readiness_probe is None
        self._step(name, lifecycle_events.Started(started.id, up, unasked))
        pulled = f'Container image "{container.image}" already present on machine'
        self.add_event("Normal", "Pulled", pulled, name)
        self.add_event("Normal", "Created", "Container created", name)
        self.add_event("Normal", "Started", "Container started", name)
        started.supervise(self._group)

    async def _new_run(self, container: Container, sources: EnvSources) -> ContainerRun:
        name, node = container.name, self.node
        root = container_root(self.folder, name)
        config = runtime_config(node, container, root, self.about, sources)
        hostname = self.pod.spec.hostname or self.pod.metadata.name
        runner = HandlerRunner(node, config, hostname, self.address)
        log = self._logs.open(name, config.id)
        tell = partial(self._on_run_event, name)
        volumes = VolumeFolders(self.folder / "volumes", self.published, self.sizes)
        try:
            begun = await start_container(node, runner, log, volumes, tell)
        except (ContainerConfigError, MountError, StartError):
            log.remove()
            raise
        self._logs.keep(name, log)
        return begun

    def _start_failed(self, name: str, reason: str, message: str, versions: object) -> None:
        lifecycle = self.lifecycles[name]
        if (lifecycle.reason, lifecycle.message) != (reason, message):
            self.add_event("Warning", "Failed", f"Error: {message}", name)
        self._refused[name] = versions
        self._step(name, lifecycle_events.StartFailed(reason, message))

    def _restart(self, name: str) -> None:
        self._step(name, lifecycle_events.Restarting())
        if self.lifecycles[name].not_before > self.node.now().mono:
            text = f"Back-off restarting failed container {name} in pod {full_name(self.pod)}"
            self.add_event("Warning", "BackOff", text, name)

    def _stop(self, name: str, until: float, note: str) -> None:
        first = self.lifecycles[name].state is LifecycleState.RUNNING
        self._step(name, lifecycle_events.StopRequested(until))
        if first:
            self.add_event("Normal", "Killing", note, name)
            left = max(0.0, until - self.node.now().mono)
            self.running[name].stop(self._group, left)

    def _step(self, name: str, event: lifecycle_events.LifecycleEvent) -> None:
        self.lifecycles[name] = step(self.lifecycles[name], event, self.node.now())

    def _on_run_event(self, name: str, id: str, what: RunEvent) -> None:
        self._inbox.append((name, id, what))
        self._wake()

    def _apply_run_events(self) -> None:
        """Let what happened change lifecycles; what is told of an earlier run is history."""
        inbox, self._inbox = self._inbox, []
        for name, id, what in inbox:
            if self.lifecycles[name].id != id:
                continue
            if isinstance(what, PodEvent):
                self._events.append(what)
            elif isinstance(what, ProbeResult):
                self._apply_probe_result(name, what)
            else:
                self._step(name, what)
                if isinstance(what, lifecycle_events.Exited):
                    del self.running[name]

    def _apply_probe_result(self, name: str, result: ProbeResult) -> None:
        check = result.check
        if result.complaint:
            text = f"{check.value} probe failed: {result.complaint}"
            self.add_event("Warning", "Unhealthy", text, name)
        if result.verdict is not None:
            unasked = self.containers[name].readiness_probe is None
            up = unasked and check is ProbeType.STARTUP
            self._step(name, lifecycle_events.Probed(check, result.verdict, up))


def _address(pod: Pod, node: NodeContext) -> str:
    if pod.spec.host_network:
        return node.host
    return node.addresses.take(pod.status.pod_ip)
