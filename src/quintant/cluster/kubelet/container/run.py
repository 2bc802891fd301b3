"""One run of a container's program: from its folders and its start to its last words.

It changes nothing but the world: whatever happens (the end, a probe's verdict, a hook that failed)
is told, and the sandbox makes of it what it means for the container's life.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Literal

from msgspec import Struct

from quintant.cluster.kubelet.container.command import ContainerRuntimeConfig, launch
from quintant.cluster.kubelet.container.exec_hooks import HandlerRunner
from quintant.cluster.kubelet.container.lifecycle_events import Ended, Signalled
from quintant.cluster.kubelet.logs.files import ContainerLog
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.probe.loop import Finding, Inquiry, watch
from quintant.cluster.kubelet.process.protocols import Process
from quintant.cluster.kubelet.volume.projected import Unmountable
from quintant.cluster.kubelet.volume.publish import inside, link

LAST_WORDS_BYTES = 4096
LOG_WORDS = (80, 2048)
"""Lines and bytes of the log that stand in for last words, for who asks for that."""


class Note(Struct, frozen=True):
    """Something that the pod's events tell."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    container: str = ""


Happening = Ended | Signalled | Finding | Note
Tell = Callable[[str, Happening], None]
"""Hears of the incarnation's id, and of what happened to it."""


class ContainerRun:
    """A program that runs for a container."""

    def __init__(
        self, beside: HandlerRunner, process: Process, journal: ContainerLog, tell: Tell
    ) -> None:
        self._beside, self._journal, self._tell = beside, journal, tell
        self.process, self.container = process, beside.berth.container
        self.id = beside.berth.id
        self.attending: asyncio.Task[None] | None = None
        self._halting: asyncio.Task[None] | None = None
        self._starved = False

    def attend(self, group: asyncio.TaskGroup) -> None:
        """Watch over it until it is over."""
        self.attending = group.create_task(self._attend())

    def halt(self, group: asyncio.TaskGroup, left: float) -> None:
        """Ask it to end; a hook before that may take as long as is left."""
        self._halting = group.create_task(self._halt(left))

    def kill(self) -> None:
        """End it now."""
        self.process.signal(SIGKILL)

    def starve(self) -> None:
        """End it for taking more memory than it may."""
        self._starved = True
        self.kill()

    def abandon(self) -> None:
        """Watch over it no more."""
        for task in (self.attending, self._halting):
            if task is not None:
                task.cancel()

    async def _attend(self) -> None:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(self._watch())
            code = await self.process.ended()
            watching.cancel()
        if self._halting is not None:
            self._halting.cancel()
        self._journal.close()
        reason = "OOMKilled" if self._starved else ""
        self._tell(self.id, Ended(code, self._last_words(code), reason))

    async def _watch(self) -> None:
        """The hook after the start, then the probes."""
        beside, lifecycle = self._beside, self.container.lifecycle
        if lifecycle and lifecycle.post_start:
            outcome = await beside.handle(lifecycle.post_start, None)
            if not outcome.passed:
                self._warn("FailedPostStartHook", "PostStartHook failed")
                self.process.signal(SIGTERM)
                return
        prober = beside.ground.prober
        inquiry = Inquiry(prober, beside.execute, self.container, beside.address)
        await watch(inquiry, lambda found: self._tell(self.id, found))

    async def _halt(self, left: float) -> None:
        lifecycle = self.container.lifecycle
        if lifecycle and lifecycle.pre_stop:
            outcome = await self._beside.handle(lifecycle.pre_stop, left)
            if not outcome.passed:
                self._warn("FailedPreStopHook", "PreStopHook failed")
        self.process.signal(SIGTERM)
        self._tell(self.id, Signalled())

    def _warn(self, reason: str, message: str) -> None:
        self._tell(self.id, Note("Warning", reason, message, self.container.name))

    def _last_words(self, code: int) -> str:
        try:
            with self._beside.berth.last_words.open("rb") as file:
                words = file.read(LAST_WORDS_BYTES)
        except OSError:
            words = b""
        policy = self.container.termination_message_policy
        if not words and code and policy == "FallbackToLogsOnError":
            words = self._journal.tail(*LOG_WORDS)
        return words.decode(errors="replace").rstrip("\n")


async def begin(
    ground: NodeContext, beside: HandlerRunner, journal: ContainerLog, volumes: Path, tell: Tell
) -> ContainerRun:
    """Start a container's program; Unstartable or Unmountable if that is impossible."""
    asked = launch(ground, beside.berth, beside.hostname)
    try:
        furnish(beside.berth, volumes)
        for folder in (asked.cwd, Path(asked.env["HOME"]), Path(asked.env["TMPDIR"])):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unmountable(str(error)) from error
    process = await ground.processes.start(asked, journal)
    return ContainerRun(beside, process, journal, tell)


def furnish(place: ContainerRuntimeConfig, volumes: Path) -> None:
    """Make the volumes appear in the container's root."""
    place.root.mkdir(parents=True, exist_ok=True)
    # What is mounted below another mount has to come after it.
    for mount in sorted(place.container.volume_mounts, key=lambda each: len(each.mount_path)):
        volume = volumes / mount.name
        sub = mount.sub_path or place.place(mount.sub_path_expr)
        target = inside(volume, sub) if sub else volume
        if sub and not target.exists():
            target.mkdir(parents=True)
        link(place.root / mount.mount_path.strip("/"), target, place.root)
    place.last_words.parent.mkdir(parents=True, exist_ok=True)
    place.last_words.write_bytes(b"")
