"""One pod on this machine: its folder, its address, its containers' lives and their programs.

The agent shows it the pod, has it `advance` (plan, act, until there is nothing to do), and asks it
what became of the pod. What happens meanwhile goes into its inbox and rings; no life changes
outside of `advance`, so a pod is worked on by one task at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Literal

from quintant.api.container import Container
from quintant.api.pod import Pod
from quintant.cluster.host.remove_tree import discard_folder
from quintant.cluster.kubelet.container import lifecycle_events
from quintant.cluster.kubelet.container.command import runtime_config
from quintant.cluster.kubelet.container.downward_api import Self
from quintant.cluster.kubelet.container.env import Sources, Unconfigured
from quintant.cluster.kubelet.container.exec_hooks import HandlerRunner
from quintant.cluster.kubelet.container.lifecycle import State, step
from quintant.cluster.kubelet.container.lifecycle_events import Check
from quintant.cluster.kubelet.container.run import ContainerRun, Happening, Note, begin
from quintant.cluster.kubelet.logs.files import ContainerLog, ContainerLogs
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.pod.plan import (
    Action,
    Kill,
    Plan,
    Renew,
    Start,
    Stop,
    Termination,
    plan,
)
from quintant.cluster.kubelet.pod.restore import lives_of
from quintant.cluster.kubelet.pod.status import View, full_name
from quintant.cluster.kubelet.probe.loop import Finding
from quintant.cluster.kubelet.process.protocols import Missing, Unstartable
from quintant.cluster.kubelet.volume.projected import Unmountable

_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (Unconfigured, "CreateContainerConfigError"),
    (Unmountable, "CreateContainerError"),
    (Missing, "ErrImageNeverPull"),
    (Unstartable, "RunContainerError"),
)
"""Why a container waits that could not be started; the first that fits."""


class Sandbox:
    """One pod on this machine."""

    def __init__(
        self, pod: Pod, ground: NodeContext, group: asyncio.TaskGroup, ring: Callable[[], None]
    ) -> None:
        self.pod, self.ground = pod, ground
        self._group, self._ring = group, ring
        self.folder = ground.folder / "pods" / pod.metadata.uid
        self.address = _address(pod, ground)
        self.since: datetime = ground.clock.now()
        self.lives = lives_of(pod, ground.now())
        self.order: Termination | None = None
        """What makes the pod end, if anything does."""
        self.running: dict[str, ContainerRun] = {}
        self.finished = False
        """Whether nothing of the pod runs, or will again."""
        self._journals = ContainerLogs(self.folder / "logs", ground.clock)
        self._inbox: list[tuple[str, str, Happening]] = []
        self._notes: list[Note] = []
        self._refused: dict[str, object] = {}

    @property
    def containers(self) -> Mapping[str, Container]:
        """The pod's containers by name, those that prepare it first."""
        spec = self.pod.spec
        return {each.name: each for each in (*spec.init_containers, *spec.containers)}

    @property
    def about(self) -> Self:
        """What the pod may know of itself."""
        ground = self.ground
        return Self(self.pod, self.address, ground.host, ground.name, ground.allocatable)

    def view(self) -> View:
        """What the pod's status is made of."""
        programs = {
            name: " ".join(found.argv) or each.image
            for name, each in self.containers.items()
            if (found := self.ground.images.find(each))
        }
        host = self.ground.host
        return View(self.pod, self.lives, programs, self.order, self.address, host, self.since)

    async def advance(self, sources: Sources, versions: object) -> Plan:
        """Do what the pod needs, until it needs nothing more now.

        `versions` says which state of the pod's references this is: what was missing in the same
        state is not tried again before its time.
        """
        for name in [name for name, seen in self._refused.items() if seen != versions]:
            del self._refused[name]
            self._step(name, lifecycle_events.Nudged())
        for name, each in self.running.items():
            if each.container.image != self.containers[name].image:
                self._step(name, lifecycle_events.Outdated())
        while True:
            self._absorb()
            wanted = plan(self.pod.spec, self.lives, self.order, self.ground.now().mono)
            if not wanted.actions:
                return wanted
            for action in wanted.actions:
                await self._act(action, sources, versions)

    def note(
        self, type: Literal["Normal", "Warning"], reason: str, message: str, container: str = ""
    ) -> None:
        """Have the pod's events tell something."""
        self._notes.append(Note(type, reason, message, container))

    def take_notes(self) -> list[Note]:
        """What there is to tell since the last call."""
        notes, self._notes = self._notes, []
        return notes

    def journal(self, name: str, *, previous: bool) -> ContainerLog | None:
        """The output of a container, or of its incarnation before; None if there is none."""
        life = self.lives[name]
        last = life.last.id if life.last else ""
        return self._journals.find(name, last if previous else life.id or last)

    def finish(self) -> None:
        """Give back what only a running pod needs; its output stays."""
        if self.finished:
            return
        self.finished = True
        if not self.pod.spec.host_network:
            self.ground.addresses.free(self.address)
        for part in ("containers", "volumes"):
            discard_folder(self.folder / part)

    def close(self) -> None:
        """Remove everything of the pod; nothing of it runs any more."""
        self.finish()
        self._journals.close()
        discard_folder(self.folder)

    async def _act(self, action: Action, sources: Sources, versions: object) -> None:
        match action:
            case Start(name):
                await self._start(name, sources, versions)
            case Renew(name):
                self._renew(name)
            case Stop(name, until, note):
                self._stop(name, until, note)
            case Kill(name):
                self._step(name, lifecycle_events.Killed())
                self.running[name].kill()

    async def _start(self, name: str, sources: Sources, versions: object) -> None:
        try:
            started = await self._begun(self.containers[name], sources)
        except (Unconfigured, Unmountable, Unstartable) as error:
            reason = next(word for sort, word in _REASONS if isinstance(error, sort))
            self._refuse(name, reason, str(error), versions)
            return
        container = started.container
        self.running[name] = started
        self._refused.pop(name, None)
        up, unasked = container.startup_probe is None, container.readiness_probe is None
        self._step(name, lifecycle_events.Started(started.id, up, unasked))
        pulled = f'Container image "{container.image}" already present on machine'
        self.note("Normal", "Pulled", pulled, name)
        self.note("Normal", "Created", "Container created", name)
        self.note("Normal", "Started", "Container started", name)
        started.attend(self._group)

    async def _begun(self, container: Container, sources: Sources) -> ContainerRun:
        name, ground = container.name, self.ground
        root = self.folder / "containers" / name / "root"
        place = runtime_config(ground, container, root, self.about, sources)
        hostname = self.pod.spec.hostname or self.pod.metadata.name
        beside = HandlerRunner(ground, place, hostname, self.address)
        journal = self._journals.open(name, place.id)
        tell = partial(self._happened, name)
        try:
            begun = await begin(ground, beside, journal, self.folder / "volumes", tell)
        except (Unmountable, Unstartable):
            journal.remove()
            raise
        self._journals.keep(name, journal)
        return begun

    def _refuse(self, name: str, reason: str, message: str, versions: object) -> None:
        life = self.lives[name]
        if (life.reason, life.message) != (reason, message):
            self.note("Warning", "Failed", f"Error: {message}", name)
        self._refused[name] = versions
        self._step(name, lifecycle_events.Refused(reason, message))

    def _renew(self, name: str) -> None:
        self._step(name, lifecycle_events.Renewed())
        if self.lives[name].again > self.ground.now().mono:
            text = f"Back-off restarting failed container {name} in pod {full_name(self.pod)}"
            self.note("Warning", "BackOff", text, name)

    def _stop(self, name: str, until: float, note: str) -> None:
        first = self.lives[name].state is State.RUNNING
        self._step(name, lifecycle_events.Asked(until))
        if first:
            self.note("Normal", "Killing", note, name)
            left = max(0.0, until - self.ground.now().mono)
            self.running[name].halt(self._group, left)

    def _step(self, name: str, event: lifecycle_events.Event) -> None:
        self.lives[name] = step(self.lives[name], event, self.ground.now())

    def _happened(self, name: str, id: str, what: Happening) -> None:
        self._inbox.append((name, id, what))
        self._ring()

    def _absorb(self) -> None:
        """Let what happened change lives; what is told of an earlier incarnation is history."""
        inbox, self._inbox = self._inbox, []
        for name, id, what in inbox:
            if self.lives[name].id != id:
                continue
            if isinstance(what, Note):
                self._notes.append(what)
            elif isinstance(what, Finding):
                self._found(name, what)
            else:
                self._step(name, what)
                if isinstance(what, lifecycle_events.Ended):
                    del self.running[name]

    def _found(self, name: str, finding: Finding) -> None:
        check = finding.check
        if finding.complaint:
            text = f"{check.value} probe failed: {finding.complaint}"
            self.note("Warning", "Unhealthy", text, name)
        if finding.verdict is not None:
            unasked = self.containers[name].readiness_probe is None
            up = unasked and check is Check.STARTUP
            self._step(name, lifecycle_events.Probed(check, finding.verdict, up))


def _address(pod: Pod, ground: NodeContext) -> str:
    if pod.spec.host_network:
        return ground.host
    return ground.addresses.take(pod.status.pod_ip)
