"""AttachContainer: clients that see what a container prints from now on, and may write to it.

A program is never held up by who looks at it: a client that does not read is let go when too much
waits for it, and the program and its log go on.
"""

from __future__ import annotations

import asyncio
from collections import deque

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import ExecOptions, TerminalSize
from quintant.cluster.kubelet.logs.files import OutputSink
from quintant.cluster.kubelet.process.protocols import ProcessInput

WAITING_BYTES = 4 * 1024 * 1024
"""What may wait for a client; a program prints as much in a second at most."""
_OUTPUTS = ("stdout", "stderr")


class ContainerOutput:
    """What a container prints: for its log, and for every client that is attached."""

    def __init__(self, log: OutputSink) -> None:
        self._log = log
        self._attached: set[AttachedContainer] = set()

    def write(self, stream: str, data: bytes) -> None:
        self._log.write(stream, data)
        for each in tuple(self._attached):
            each.put(stream, data)

    def attach(self, client: AttachedContainer) -> None:
        """Have a client see what is printed from now on."""
        self._attached.add(client)

    def detach(self, client: AttachedContainer) -> None:
        """Have it see no more."""
        self._attached.discard(client)

    def close(self) -> None:
        """There is no more to come."""
        self._log.close()
        for each in tuple(self._attached):
            each.end()


class AttachedContainer:
    """A container as a client that is attached sees it: as a program that it speaks with."""

    def __init__(
        self,
        output: ContainerOutput,
        stdin: ProcessInput | None,
        options: ExecOptions,
        *,
        once: bool,
    ) -> None:
        self._output, self._once = output, once
        self._stdin = stdin if options.stdin else None
        wanted = {name for name in _OUTPUTS if getattr(options, name)}
        self._waiting: dict[str, deque[bytes]] = {name: deque() for name in wanted}
        self._bytes = 0
        self._over = asyncio.Event()
        self._changed = asyncio.Event()
        output.attach(self)

    def put(self, stream: str, data: bytes) -> None:
        """The container printed something."""
        if stream not in self._waiting:
            return
        self._waiting[stream].append(data)
        self._bytes += len(data)
        self._changed.set()
        if self._bytes > WAITING_BYTES:
            self.end()

    def end(self) -> None:
        """Nothing more will come."""
        self._output.detach(self)
        self._over.set()
        self._changed.set()

    async def read(self, stream: str) -> bytes:
        waiting = self._waiting.get(stream)
        if waiting is None:
            return b""
        while not waiting and not self._over.is_set():
            self._changed.clear()
            await self._changed.wait()
        if not waiting:
            return b""
        data = waiting.popleft()
        self._bytes -= len(data)
        return data

    async def write(self, data: bytes) -> None:
        if self._stdin is not None:
            await self._stdin.write(data)

    def close_stdin(self) -> None:
        """The input of a container ends with its first client, if the container says so."""
        if self._stdin is not None and self._once:
            self._stdin.end()

    def resize(self, size: TerminalSize) -> None:
        if self._stdin is not None:
            self._stdin.resize(size)

    async def ended(self) -> int:
        await self._over.wait()
        return 0

    def kill(self) -> None:
        """See no more; the container goes on."""
        self.close_stdin()
        self.end()
