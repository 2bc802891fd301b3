"""Real processes: each in a session of its own, with its output read to the end.

Nothing outlives its container. A program that ends takes what it started with it: its process
group first, then whoever left the group, known by the id in the environment that all of them carry.
If this process itself is killed, the kernel ends the programs (Linux), and the next start ends
whatever they had started (quintant.cluster.kubelet.process.orphans).
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL
from asyncio.subprocess import Process as Child
from contextlib import ExitStack, suppress
from functools import partial
from typing import BinaryIO, NamedTuple, cast

from msgspec import Struct, field

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import ExecOptions
from quintant.cluster.kubelet.logs.files import OutputSink
from quintant.cluster.kubelet.process.exec_process import LocalExecProcess, start_exec
from quintant.cluster.kubelet.process.orphans import CONTAINER, end_marked
from quintant.cluster.kubelet.process.process_input import (
    LocalProcessInput,
    open_input,
    open_terminal,
    own_stream,
)
from quintant.cluster.kubelet.process.protocols import Launch, StartError
from quintant.cluster.kubelet.process.spawn import OUTPUT_SECONDS, spawn

BURST_BYTES, PAUSE_SECONDS = 256 * 1024, 0.05
"""Who prints more at once waits: five mebibytes in a second, and the API answers meanwhile."""


class _Pump(asyncio.Protocol):
    """Carries one stream of a program to its sink, and no faster than leaves time for others."""

    def __init__(self, name: str, sink: OutputSink) -> None:
        self._name, self._sink = name, sink
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.ReadTransport | None = None
        self._room = BURST_BYTES
        self.drained = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.ReadTransport, transport)

    def data_received(self, data: bytes) -> None:
        self._sink.write(self._name, data)
        self._room -= len(data)
        if self._room <= 0 and self._transport is not None:
            self._transport.pause_reading()
            self._loop.call_later(PAUSE_SECONDS, self._resume)

    def _resume(self) -> None:
        self._room = BURST_BYTES
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.drained.done():
            self.drained.set_result(None)


class LocalProcess(Struct):
    """A program on this machine."""

    child: Child
    mark: str
    """The id that everything it starts carries."""
    pipes: list[tuple[asyncio.BaseTransport, _Pump]] = field(default_factory=list)
    stdin: LocalProcessInput | None = None
    over: bool = False
    """Whether it is gone: its process id may be another's by now."""

    @property
    def pid(self) -> int:
        return self.child.pid

    def signal(self, number: int) -> None:
        if self.over:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, number)

    async def ended(self) -> int:
        try:
            code = await self.child.wait()
            self._sweep()
            # Who left the program may hold its pipes for a moment; the last lines come first.
            await asyncio.wait([pump.drained for _, pump in self.pipes], timeout=OUTPUT_SECONDS)
            return code
        finally:
            for transport, _ in self.pipes:
                transport.close()
            if self.stdin is not None:
                self.stdin.close()

    def _sweep(self) -> None:
        """End whatever the program started and left."""
        self.signal(signal.SIGKILL)
        self.over = True
        end_marked(CONTAINER, self._is_own)

    def _is_own(self, mark: str) -> bool:
        """Whether a mark is that of the program, or of a command that ran beside it."""
        return bool(self.mark) and (mark == self.mark or mark.startswith(f"{self.mark}-"))


class LocalProcesses:
    """The processes of this machine."""

    async def start(self, launch: Launch, sink: OutputSink) -> LocalProcess:
        starting = asyncio.create_task(_start(launch, sink))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # A pipe that is half connected is closed by no loop: what was begun comes to its end.
            with suppress(StartError):
                process = await starting
                process.signal(signal.SIGKILL)
                await process.ended()
            raise

    async def exec(
        self, launch: Launch, options: ExecOptions, group: asyncio.TaskGroup
    ) -> LocalExecProcess:
        process = await start_exec(launch, options)
        group.create_task(process.supervise())
        return process


async def _start(launch: Launch, sink: OutputSink) -> LocalProcess:
    # Pipes of our own: with asyncio's, waiting for a program is waiting for its children, too.
    with ExitStack() as ours, ExitStack() as theirs:
        streams = _terminal(launch, ours, theirs) if launch.tty else _pipes(launch, ours, theirs)
        child = await spawn(launch, *streams.theirs, terminal=launch.tty)
        theirs.close()
        process = LocalProcess(child, launch.env.get(CONTAINER, ""), stdin=streams.stdin)
        loop = asyncio.get_running_loop()
        for name, read in streams.outputs.items():
            process.pipes.append(await loop.connect_read_pipe(partial(_Pump, name, sink), read))
        ours.pop_all()
    return process


class _Streams(NamedTuple):
    """Our ends of a program's streams, and its own of all three."""

    stdin: LocalProcessInput | None
    outputs: dict[str, BinaryIO]
    theirs: tuple[int, int, int]


def _pipes(launch: Launch, ours: ExitStack, theirs: ExitStack) -> _Streams:
    stdin, source = open_input(ours, theirs) if launch.stdin else (None, DEVNULL)
    (stdout, out), (stderr, err) = _pipe(ours, theirs), _pipe(ours, theirs)
    return _Streams(stdin, {"stdout": stdout, "stderr": stderr}, (source, out, err))


def _terminal(launch: Launch, ours: ExitStack, theirs: ExitStack) -> _Streams:
    near, far = open_terminal(theirs)
    output = ours.enter_context(os.fdopen(near, "rb", 0))
    stdin = None
    if launch.stdin:
        stdin = LocalProcessInput(own_stream(ours, os.dup(near)), terminal=True)
    return _Streams(stdin, {"stdout": output}, (far, far, far))


def _pipe(ours: ExitStack, theirs: ExitStack) -> tuple[BinaryIO, int]:
    """The end that we read from, and the one that a program writes to."""
    read, write = os.pipe()
    theirs.callback(os.close, write)
    return ours.enter_context(os.fdopen(read, "rb", 0)), write
