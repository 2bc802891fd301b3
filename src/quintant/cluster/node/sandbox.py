"""One pod on this machine: its folder, its address, its containers' lives and processes.

The agent asks it to see a pod, to `advance` (plan, act, until there is nothing to do), and to tell
what became of it. Whatever happens meanwhile (a process ends, a probe has a verdict) goes into its
inbox and rings; nothing changes a life outside of `advance`, so a pod is worked on by one task.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from signal import SIGKILL, SIGTERM
from typing import Literal

from quintant.api.container import Container
from quintant.api.pod import Pod
from quintant.cluster.node import life as events
from quintant.cluster.node.effects import Missing, Process, Unstartable
from quintant.cluster.node.env import Sources, Unconfigured
from quintant.cluster.node.fields import Self
from quintant.cluster.node.ground import Ground
from quintant.cluster.node.history import lives_of
from quintant.cluster.node.hooks import Beside
from quintant.cluster.node.journal import KEPT, Journal
from quintant.cluster.node.launching import Berth, berth, launch
from quintant.cluster.node.life import Check, State, step
from quintant.cluster.node.mounts import inside, link
from quintant.cluster.node.plan import Kill, Order, Plan, Renew, Start, Stop, plan
from quintant.cluster.node.probing import Finding, Inquiry, watch
from quintant.cluster.node.status import View
from quintant.cluster.node.volumes import Unmountable

LAST_WORDS_BYTES = 4096
LOG_WORDS = (80, 2048)
"""Lines and bytes of the log that stand in for last words, for who asks for that."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the pod's events tell."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    container: str = ""
    initial: bool = False
    """Whether the container is an init container."""


@dataclass(slots=True)
class Run:
    """An incarnation of a container."""

    berth: Berth
    process: Process
    journal: Journal
    beside: Beside
    task: asyncio.Task[None] | None = None
    halting: asyncio.Task[None] | None = None
    starved: bool = False
    """Whether it took more memory than it may."""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened to an incarnation."""

    name: str
    id: str
    what: events.Event | Finding | Note


class Sandbox:
    """One pod on this machine."""

    def __init__(
        self, pod: Pod, ground: Ground, group: asyncio.TaskGroup, ring: Callable[[], None]
    ) -> None:
        self.pod, self.ground = pod, ground
        self._group, self._ring = group, ring
        self.folder = ground.folder / "pods" / pod.metadata.uid
        self.address = _address(pod, ground)
        self.since: datetime = ground.clock.now()
        self.lives = lives_of(pod, ground.now())
        self.order: Order | None = None
        self.runs: dict[str, Run] = {}
        self.journals: dict[str, list[Journal]] = {}
        self._notes: list[Note] = []
        self.mounted = False
        self.finished = False
        self._inbox: list[Happening] = []
        self._refused: dict[str, object] = {}

    @property
    def containers(self) -> Mapping[str, Container]:
        spec = self.pod.spec
        return {each.name: each for each in (*spec.init_containers, *spec.containers)}

    @property
    def about(self) -> Self:
        ground = self.ground
        return Self(self.pod, self.address, ground.host, ground.name, ground.allocatable)

    def view(self) -> View:
        """What the status is made of."""
        programs = {
            name: " ".join(found.argv) or each.image
            for name, each in self.containers.items()
            if (found := self.ground.images.find(each))
        }
        ground = self.ground
        return View(
            self.pod, self.lives, programs, self.order, self.address, ground.host, self.since
        )

    async def advance(self, sources: Sources, versions: object) -> Plan:
        """Do what the pod needs, until it needs nothing more now.

        `versions` says which state of the pod's references this is: what was missing in the same
        state is not tried again before its time.
        """
        for name, seen in list(self._refused.items()):
            if seen != versions:
                del self._refused[name]
                self._step(name, events.Nudged())
        while True:
            self._absorb()
            next = plan(self.pod.spec, self.lives, self.order, self.ground.now().mono)
            if not next.actions:
                return next
            for action in next.actions:
                match action:
                    case Start(name):
                        await self._start(name, sources, versions)
                    case Renew(name):
                        self._step(name, events.Renewed())
                        self._back_off(name)
                    case Stop(name, until, note):
                        self._stop(name, until, note)
                    case Kill(name):
                        self._kill(name)

    def starve(self, name: str) -> None:
        """End a container that takes more memory than it may."""
        run = self.runs.get(name)
        if run is not None:
            run.starved = True
            run.process.signal(SIGKILL)

    def note(
        self, type: Literal["Normal", "Warning"], reason: str, message: str, name: str = ""
    ) -> None:
        """Have the pod's events tell something."""
        initial = any(each.name == name for each in self.pod.spec.init_containers)
        self._notes.append(Note(type, reason, message, name, initial))

    def take_notes(self) -> list[Note]:
        """What there is to tell since the last call."""
        notes, self._notes = self._notes, []
        return notes

    def finish(self) -> None:
        """Give back what only a running pod needs; its output stays."""
        if not self.finished:
            self.finished = True
            self._unmount()

    def close(self) -> None:
        """Remove everything of the pod; nothing of it runs any more."""
        self.finish()
        for journals in self.journals.values():
            for journal in journals:
                journal.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _unmount(self) -> None:
        if self.address and not self.pod.spec.host_network:
            self.ground.addresses.free(self.address)
        shutil.rmtree(self.folder / "containers", ignore_errors=True)
        shutil.rmtree(self.folder / "volumes", ignore_errors=True)

    def journal(self, name: str, *, previous: bool) -> Journal | None:
        """The output of a container, or of its incarnation before."""
        life = self.lives[name]
        last = life.last.id if life.last else ""
        wanted = last if previous else life.id or last
        found = (each for each in self.journals.get(name, ()) if each.path.stem == wanted)
        return next(found, None) if wanted else None

    # What follows happens to single containers.

    async def _start(self, name: str, sources: Sources, versions: object) -> None:
        container = self.containers[name]
        try:
            run = await self._launched(container, sources)
        except Unconfigured as error:
            self._refuse(name, "CreateContainerConfigError", str(error), versions)
        except Unmountable as error:
            self._refuse(name, "CreateContainerError", str(error), versions)
        except Missing as error:
            self._refuse(name, "ErrImageNeverPull", str(error), versions)
        except Unstartable as error:
            self._refuse(name, "RunContainerError", str(error), versions)
        else:
            self._started(name, run)

    async def _launched(self, container: Container, sources: Sources) -> Run:
        ground, hostname = self.ground, self.pod.spec.hostname or self.pod.metadata.name
        root = self.folder / "containers" / container.name / "root"
        place = berth(ground, container, root, self.about, sources)
        self._furnish(place)
        asked = launch(ground, place, hostname)
        for folder in (asked.cwd, asked.env["HOME"], asked.env["TMPDIR"]):
            ground.folder.joinpath(folder).mkdir(parents=True, exist_ok=True)
        journal = self._opened(container.name, place.id)
        try:
            process = await ground.processes.start(asked, journal)
        except Unstartable:
            journal.close()
            self.journals[container.name].remove(journal)
            raise
        return Run(place, process, journal, Beside(ground, place, hostname, self.address))

    def _furnish(self, place: Berth) -> None:
        """Make the volumes appear in the container's root."""
        place.root.mkdir(parents=True, exist_ok=True)
        mounts = sorted(place.container.volume_mounts, key=lambda each: len(each.mount_path))
        for mount in mounts:
            volume = self.folder / "volumes" / mount.name
            sub = mount.sub_path or place.place(mount.sub_path_expr)
            target = inside(volume, sub) if sub else volume
            if sub and not target.exists():
                target.mkdir(parents=True)
            link(place.root / mount.mount_path.strip("/"), target)
        place.last_words.parent.mkdir(parents=True, exist_ok=True)
        place.last_words.write_bytes(b"")

    def _opened(self, name: str, id: str) -> Journal:
        kept = self.journals.setdefault(name, [])
        journal = Journal(self.folder / "logs" / name / f"{id}.log", self.ground.clock)
        kept.append(journal)
        for old in kept[:-KEPT]:
            old.remove()
        del kept[:-KEPT]
        return journal

    def _started(self, name: str, run: Run) -> None:
        container = run.berth.container
        self.runs[name] = run
        self._refused.pop(name, None)
        up = container.startup_probe is None
        self._step(name, events.Started(run.berth.id, up, container.readiness_probe is None))
        image = container.image
        pulled = f'Container image "{image}" already present on machine'
        self.note("Normal", "Pulled", pulled, name)
        self.note("Normal", "Created", f"Container created: {name}", name)
        self.note("Normal", "Started", f"Container started: {name}", name)
        run.task = self._group.create_task(self._attend(name, run))

    def _refuse(self, name: str, reason: str, message: str, versions: object) -> None:
        if self.lives[name].reason != reason or self.lives[name].message != message:
            self.note("Warning", "Failed", f"Error: {message}", name)
        self._refused[name] = versions
        self._step(name, events.Refused(reason, message))

    def _back_off(self, name: str) -> None:
        life = self.lives[name]
        if life.again > self.ground.now().mono:
            meta = self.pod.metadata
            where = f"{meta.name}_{meta.namespace}({meta.uid})"
            text = f"Back-off restarting failed container {name} in pod {where}"
            self.note("Warning", "BackOff", text, name)

    def _stop(self, name: str, until: float, note: str) -> None:
        first = self.lives[name].state is State.RUNNING
        self._step(name, events.Asked(until))
        if first and (run := self.runs.get(name)):
            self.note("Normal", "Killing", note, name)
            run.halting = self._group.create_task(self._halt(name, run))

    def _kill(self, name: str) -> None:
        if run := self.runs.get(name):
            run.process.signal(SIGKILL)
        self._step(name, events.Killed())

    def _step(self, name: str, event: events.Event) -> None:
        self.lives[name] = step(self.lives[name], event, self.ground.now())

    # What follows runs beside, and tells by the inbox.

    async def _attend(self, name: str, run: Run) -> None:
        """Watch over an incarnation until it is over."""
        container = run.berth.container
        inquiry = Inquiry(self.ground.prober, run.beside.execute, container, self.address)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._probe(name, run, inquiry))]
            code = await run.process.ended()
            for task in (*tasks, *([run.halting] if run.halting else [])):
                task.cancel()
        run.journal.close()
        words = self._last_words(run, code)
        reason = "OOMKilled" if run.starved else ""
        self._happened(name, run, events.Ended(code, words, reason))

    async def _probe(self, name: str, run: Run, inquiry: Inquiry) -> None:
        lifecycle = run.berth.container.lifecycle
        if lifecycle and lifecycle.post_start:
            outcome = await run.beside.handle(lifecycle.post_start, None)
            if not outcome.passed:
                text = f"PostStartHook failed: {outcome.message}"
                self._happened(name, run, Note("Warning", "FailedPostStartHook", text, name))
                run.process.signal(SIGTERM)
                return
        await watch(inquiry, lambda found: self._happened(name, run, found))

    async def _halt(self, name: str, run: Run) -> None:
        """The hook before the end, then SIGTERM."""
        lifecycle = run.berth.container.lifecycle
        if lifecycle and lifecycle.pre_stop:
            left = max(0.0, self.lives[name].deadline - self.ground.now().mono)
            outcome = await run.beside.handle(lifecycle.pre_stop, left)
            if not outcome.passed:
                text = f"PreStopHook failed: {outcome.message}"
                self._happened(name, run, Note("Warning", "FailedPreStopHook", text, name))
        run.process.signal(SIGTERM)
        self._happened(name, run, events.Signalled())

    def _happened(self, name: str, run: Run, what: events.Event | Finding | Note) -> None:
        self._inbox.append(Happening(name, run.berth.id, what))
        self._ring()

    def _absorb(self) -> None:
        inbox, self._inbox = self._inbox, []
        for happening in inbox:
            name, what = happening.name, happening.what
            if self.lives[name].id != happening.id:
                continue
            if isinstance(what, Note):
                self.note(what.type, what.reason, what.message, name)
            elif isinstance(what, Finding):
                self._found(name, what)
            else:
                self._step(name, what)
                if isinstance(what, events.Ended):
                    del self.runs[name]

    def _found(self, name: str, finding: Finding) -> None:
        check, verdict = finding.check, finding.verdict
        if finding.complaint:
            text = f"{check.value} probe failed: {finding.complaint}"
            self.note("Warning", "Unhealthy", text, name)
        if verdict is not None:
            ready = self.containers[name].readiness_probe is None
            self._step(name, events.Probed(check, verdict, ready and check is Check.STARTUP))

    def _last_words(self, run: Run, code: int) -> str:
        try:
            with run.berth.last_words.open("rb") as file:
                words = file.read(LAST_WORDS_BYTES)
        except OSError:
            words = b""
        policy = run.berth.container.termination_message_policy
        if not words and code and policy == "FallbackToLogsOnError":
            words = run.journal.tail(*LOG_WORDS)
        return words.decode(errors="replace").rstrip("\n")


def _address(pod: Pod, ground: Ground) -> str:
    if pod.spec.host_network:
        return ground.host
    return ground.addresses.take(pod.status.pod_ip)
