"""Real processes: each in a session of its own, with its output read to the end.

Nothing outlives its container. A program that ends takes what it started with it: its process
group first, then whoever left the group, known by the id in the environment that all of them carry.
If this process itself is killed, the kernel ends the programs (Linux), and the next start ends
whatever they had started (quintant.cluster.node.orphans).
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from asyncio.subprocess import Process as Child
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from quintant.cluster.node.effects import Launch, Missing, Unstartable
from quintant.cluster.node.journal import Sink
from quintant.cluster.node.orphans import CONTAINER, marked

OUTPUT_SECONDS = 2.0
"""How long the output of a program that ended may still be held open by something it started."""
READ_BYTES = 64 * 1024
_PR_SET_PDEATHSIG = 1
# Loaded before any fork: between fork and exec little is safe.
_LIBC = ctypes.CDLL(None)


@dataclass(slots=True)
class LocalProcess:
    """A program on this machine."""

    child: Child
    mark: str
    """The id that everything it starts carries."""
    pumps: list[asyncio.Task[None]] = field(default_factory=list)

    @property
    def pid(self) -> int:
        return self.child.pid

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, number)

    async def ended(self) -> int:
        code = await self.child.wait()
        self._sweep()
        if self.pumps:
            _, late = await asyncio.wait(self.pumps, timeout=OUTPUT_SECONDS)
            for pump in late:
                pump.cancel()
        return code

    def _sweep(self) -> None:
        """End whatever the program started and left."""
        self.signal(signal.SIGKILL)
        for pid in marked(CONTAINER, self.mark):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


class LocalProcesses:
    """The processes of this machine; `group` owns the tasks that read their output."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group

    async def start(self, launch: Launch, sink: Sink) -> LocalProcess:
        child = await _started(launch)
        process = LocalProcess(child, launch.env.get(CONTAINER, ""))
        for name, stream in (("stdout", child.stdout), ("stderr", child.stderr)):
            assert stream is not None, "both are pipes"
            process.pumps.append(self._group.create_task(_pump(stream, name, sink)))
        return process


async def _started(launch: Launch) -> Child:
    try:
        return await asyncio.create_subprocess_exec(
            *launch.argv,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            cwd=launch.cwd,
            env=launch.env,
            start_new_session=True,
            preexec_fn=_leash(),
        )
    except FileNotFoundError as error:
        raise Missing(f'exec: "{launch.argv[0]}": executable file not found') from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise Unstartable(f'exec: "{launch.argv[0]}": {why}') from error


async def _pump(stream: asyncio.StreamReader, name: str, sink: Sink) -> None:
    while data := await stream.read(READ_BYTES):
        sink.write(name, data)


def _leash() -> Callable[[], None] | None:
    """What makes the kernel end a child when we end, however we do; nothing where it cannot."""
    if sys.platform != "linux":
        return None
    parent = os.getpid()

    def hold() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            # We ended between the fork and the request.
            os._exit(1)

    return hold
