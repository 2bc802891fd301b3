"""A program that a kubelet starts for a client: by pipes, or in a terminal of its own.

It is in a session of its own, as containers are, and nothing outlives it: its process group, then
whatever carries its mark. A client that does not read holds it up, as a full pipe does.
"""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import DEVNULL
from asyncio.subprocess import Process as Child
from contextlib import ExitStack, suppress
from signal import SIGKILL

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import ExecOptions, TerminalSize
from quintant.cluster.kubelet.container.lifecycle import SIGNALLED
from quintant.cluster.kubelet.process.fd_stream import FdStream
from quintant.cluster.kubelet.process.orphans import CONTAINER, end_marked
from quintant.cluster.kubelet.process.process_input import (
    LocalProcessInput,
    open_input,
    open_terminal,
    own_stream,
)
from quintant.cluster.kubelet.process.protocols import Launch
from quintant.cluster.kubelet.process.spawn import OUTPUT_SECONDS, spawn


class LocalExecProcess:
    """A program, and our ends of its streams."""

    def __init__(
        self, child: Child, mark: str, stdin: LocalProcessInput | None, outputs: dict[str, FdStream]
    ) -> None:
        self._child, self._mark, self._stdin, self._outputs = child, mark, stdin, outputs
        self._code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def supervise(self) -> None:
        """Wait for its end, and leave nothing of it."""
        code = await self._child.wait()
        self._end_group()
        end_marked(CONTAINER, lambda id: bool(id) and id == self._mark)
        self._code.set_result(SIGNALLED - code if code < 0 else code)
        # Who left the program may hold its streams; the last lines come first.
        for each in self._outputs.values():
            each.expire(OUTPUT_SECONDS)

    async def read(self, stream: str) -> bytes:
        return await self._outputs[stream].read() if stream in self._outputs else b""

    async def write(self, data: bytes) -> None:
        if self._stdin is not None:
            await self._stdin.write(data)

    def close_stdin(self) -> None:
        if self._stdin is not None:
            self._stdin.end()

    def resize(self, size: TerminalSize) -> None:
        if self._stdin is not None:
            self._stdin.resize(size)

    async def ended(self) -> int:
        return await asyncio.shield(self._code)

    def kill(self) -> None:
        self._end_group()
        self._close()

    def _end_group(self) -> None:
        # Once it was waited for, its process id may be another's.
        if not self._code.done():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, SIGKILL)

    def _close(self) -> None:
        if self._stdin is not None:
            self._stdin.close()
        for each in self._outputs.values():
            each.close()


async def start_exec(launch: Launch, options: ExecOptions) -> LocalExecProcess:
    """Start a program that speaks with a client; StartError if that is impossible."""
    mark = launch.env.get(CONTAINER, "")
    with ExitStack() as ours, ExitStack() as theirs:
        if options.tty:
            near, far = open_terminal(theirs)
            terminal = own_stream(ours, near)
            child = await spawn(launch, far, far, far, terminal=True)
            ours.pop_all()
            stdin = LocalProcessInput(terminal, terminal=True)
            return LocalExecProcess(child, mark, stdin, {"stdout": terminal})
        given, source = open_input(ours, theirs) if options.stdin else (None, DEVNULL)
        wanted = {"stdout": options.stdout, "stderr": options.stderr}
        outputs = {name: _output(ours, theirs) for name, each in wanted.items() if each}
        targets = [outputs[name][1] if name in outputs else DEVNULL for name in wanted]
        child = await spawn(launch, source, *targets)
        ours.pop_all()
        near_ends = {name: stream for name, (stream, _) in outputs.items()}
        return LocalExecProcess(child, mark, given, near_ends)


def _output(ours: ExitStack, theirs: ExitStack) -> tuple[FdStream, int]:
    read, write = os.pipe()
    theirs.callback(os.close, write)
    return own_stream(ours, read), write
