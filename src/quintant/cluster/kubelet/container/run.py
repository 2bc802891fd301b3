"""startContainer: one run of a container's program: from its folders to its termination message.

It changes nothing but the world: whatever happens (the end, a probe's verdict, a hook that failed)
is told, and the sandbox makes of it what it means for the container's life.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Final, Literal

from msgspec import Struct

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import ExecOptions, ExecProcess
from quintant.cluster.kubelet.container.attach import AttachedContainer, ContainerOutput
from quintant.cluster.kubelet.container.command import ContainerRuntimeConfig, container_command
from quintant.cluster.kubelet.container.exec_hooks import HandlerRunner
from quintant.cluster.kubelet.container.exec_in_container import session_command
from quintant.cluster.kubelet.container.lifecycle_events import Exited, Signalled
from quintant.cluster.kubelet.container.loaders import dropped_variables
from quintant.cluster.kubelet.logs.files import ContainerLog
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.probe.loop import ProbeResult, ProbeTarget, run_probes
from quintant.cluster.kubelet.process.protocols import HandlerResult, Process
from quintant.cluster.kubelet.volume.mounts import VolumeFolders, mount_volumes
from quintant.cluster.kubelet.volume.projected import MountError
from quintant.cluster.kubelet.volume.rootfs import require_inside

TERMINATION_MESSAGE_BYTES = 4096
FALLBACK_TAIL = (80, 2048)
"""Lines and bytes of the log that stand in for last words, for who asks for that."""


class PodEvent(Struct, frozen=True):
    """Something that the pod's events tell."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    container: str = ""


RunEvent = Exited | Signalled | ProbeResult | PodEvent
OnRunEvent = Callable[[str, RunEvent], None]
"""Hears of the run's id, and of what happened to it."""


class ContainerRun:
    """A program that runs for a container."""

    def __init__(
        self,
        runner: HandlerRunner,
        process: Process,
        log: ContainerLog,
        output: ContainerOutput,
        tell: OnRunEvent,
    ) -> None:
        self._runner, self._log, self._output, self._tell = runner, log, output, tell
        self.process = process
        self.container: Final = runner.config.container
        self.id: str = runner.config.id
        self.supervising: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._oom_killed = False
        self._sessions: set[ExecProcess] = set()

    def supervise(self, group: asyncio.TaskGroup) -> None:
        """Watch over it until it is over."""
        self.supervising = group.create_task(self._supervise())

    def stop(self, group: asyncio.TaskGroup, left: float) -> None:
        """Ask it to end; a hook before that may take as long as is left."""
        self._stopping = group.create_task(self._stop(left))

    def kill(self) -> None:
        """End it now."""
        self.process.signal(SIGKILL)

    async def exec(self, group: asyncio.TaskGroup, options: ExecOptions) -> ExecProcess:
        """Run a client's command beside it, no longer than it runs itself; or StartError."""
        runner = self._runner
        launch = session_command(
            runner.node, runner.config, options.command, runner.hostname, tty=options.tty
        )
        session = await runner.node.processes.exec(launch, options, group)
        if self.supervising is None or self.supervising.done():
            session.kill()
        self._sessions.add(session)
        group.create_task(self._forget_ended(session))
        return session

    def attach(self, options: ExecOptions) -> ExecProcess:
        """Have a client see what it prints from now on, and write to it if it has an input."""
        once = self.container.stdin_once
        return AttachedContainer(self._output, self.process.stdin, options, once=once)

    def end_sessions(self) -> None:
        """End the commands of clients."""
        for each in self._sessions:
            each.kill()

    def oom_kill(self) -> None:
        """End it for taking more memory than it may."""
        self._oom_killed = True
        self.kill()

    def detach(self) -> None:
        """Watch over it no more."""
        for task in (self.supervising, self._stopping):
            if task is not None:
                task.cancel()

    async def _supervise(self) -> None:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(self._watch())
            code = await self.process.ended()
            watching.cancel()
        self.end_sessions()
        if self._stopping is not None:
            self._stopping.cancel()
        self._output.close()
        reason = "OOMKilled" if self._oom_killed else ""
        self._tell(self.id, Exited(code, self._termination_message(code), reason))

    async def _forget_ended(self, session: ExecProcess) -> None:
        await session.ended()
        self._sessions.discard(session)

    async def _watch(self) -> None:
        """The hook after the start, then the probes."""
        runner, lifecycle = self._runner, self.container.lifecycle
        if lifecycle and lifecycle.post_start:
            outcome = await runner.run_handler(lifecycle.post_start, None)
            if not outcome.passed:
                self.warn("FailedPostStartHook", _failed("PostStartHook", outcome))
                self.process.signal(SIGTERM)
                return
        prober = runner.node.prober
        target = ProbeTarget(prober, runner.execute, self.container, runner.address)
        await run_probes(target, lambda event: self._tell(self.id, event))

    async def _stop(self, left: float) -> None:
        lifecycle = self.container.lifecycle
        if lifecycle and lifecycle.pre_stop:
            outcome = await self._runner.run_handler(lifecycle.pre_stop, left)
            if not outcome.passed:
                self.warn("FailedPreStopHook", _failed("PreStopHook", outcome))
        self.process.signal(SIGTERM)
        self._tell(self.id, Signalled())

    def warn(self, reason: str, message: str) -> None:
        """Have the pod's events tell something that a user should know."""
        self._tell(self.id, PodEvent("Warning", reason, message, self.container.name))

    def _termination_message(self, code: int) -> str:
        try:
            with self._runner.config.termination_message_path.open("rb") as file:
                words = file.read(TERMINATION_MESSAGE_BYTES)
        except OSError:
            words = b""
        policy = self.container.termination_message_policy
        if not words and code and policy == "FallbackToLogsOnError":
            words = self._log.tail(*FALLBACK_TAIL)
        return words.decode(errors="replace").rstrip("\n")


async def start_container(
    node: NodeContext,
    runner: HandlerRunner,
    log: ContainerLog,
    volumes: VolumeFolders,
    tell: OnRunEvent,
) -> ContainerRun:
    """Start a container's program; StartError or MountError if that is impossible."""
    config = runner.config
    try:
        mount_volumes(config.container, config.root, volumes, config.expand)
        # Only now: which folder stands for a mount path is known once it is mounted.
        launch = container_command(node, config, runner.hostname)
        _empty_termination_message(config.termination_message_path)
        for folder in (launch.cwd, Path(launch.env["HOME"]), Path(launch.env["TMPDIR"])):
            require_inside(folder, config.own_folders).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MountError(str(error)) from error
    output = ContainerOutput(log)
    process = await node.processes.start(launch, output)
    begun = ContainerRun(runner, process, log, output, tell)
    if dropped := _dropped(node, config):
        begun.warn("VariablesDropped", dropped)
    return begun


def _empty_termination_message(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")


def _dropped(node: NodeContext, config: ContainerRuntimeConfig) -> str:
    """What to tell of the pod's variables that its program does not get, if there are any."""
    program = node.images.find(config.container)
    names = dropped_variables(config.variables, program) if program else ()
    if not names:
        return ""
    return f"{', '.join(names)} of the pod is not passed on: allowEnv in the image table may say so"


def _failed(hook: str, result: HandlerResult) -> str:
    # What a command printed may be secret; why none was run is not.
    return f"{hook} failed" + (f": {result.not_run}" if result.not_run else "")
