"""RuntimeService: what the kubelet does to the machine: start programs, signal them, probe them.

The real ones are quintant.cluster.kubelet.process.processes and
quintant.cluster.kubelet.probe.network; tests bring a process table of their own, and the whole
kubelet runs under virtual time.
"""

from __future__ import annotations

from asyncio import TaskGroup
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from quintant.api.container import GRPCAction, HTTPGetAction, TCPSocketAction
from quintant.cluster.apiserver.kubelet_client.streaming_runtime import (
    ExecOptions,
    ExecProcess,
    TerminalSize,
)
from quintant.cluster.kubelet.logs.files import OutputSink


@dataclass(frozen=True, slots=True)
class Launch:
    """A program to start."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    """All of it; nothing is inherited. It may hold secrets."""
    stdin: bool = False
    """Whether it has an input, which stays open until it is closed."""
    tty: bool = False
    """Whether it runs in a terminal of its own, whose one output is stdout."""


class StartError(Exception):
    """A program that cannot be started; the text says why."""


class ProgramNotFound(StartError):
    """There is no such program on this machine."""


class ProcessInput(Protocol):
    """What can be written to a program."""

    async def write(self, data: bytes) -> None:
        """Give it all of these bytes, as fast as it reads; what it never reads is lost."""

    def end(self) -> None:
        """Have it see the end of its input."""

    def resize(self, size: TerminalSize) -> None:
        """Its terminal, if it has one, is so large from now on."""


class Process(Protocol):
    """A program that was started, with all it started itself."""

    @property
    def stdin(self) -> ProcessInput | None:
        """Its input, if it has one."""

    @property
    def pid(self) -> int: ...

    def signal(self, number: int) -> None:
        """Send a signal to the program and what it started; none are left is no error."""

    async def ended(self) -> int:
        """Wait for the end: its exit code, or a signal's number, negative.

        By then all output is in the sink, and nothing that the program started runs any more.
        """


class Processes(Protocol):
    """The machine's processes."""

    async def start(self, launch: Launch, sink: OutputSink) -> Process:
        """Start a program whose output goes to the sink; StartError if that is impossible."""

    async def exec(self, launch: Launch, options: ExecOptions, group: TaskGroup) -> ExecProcess:
        """Start a program that speaks with a client; `group` owns what waits for its end."""


class HandlerResult(Struct, frozen=True):
    """The answer to a probe, or why there is none."""

    passed: bool
    message: str = ""
    not_run: str = ""
    """Why a command was not even run."""


class Prober(Protocol):
    """Asks programs over the network how they are."""

    async def http(
        self, address: str, port: int, get: HTTPGetAction, timeout: float
    ) -> HandlerResult: ...

    async def tcp(
        self, address: str, port: int, connect: TCPSocketAction, timeout: float
    ) -> HandlerResult: ...

    async def grpc(
        self, address: str, port: int, ask: GRPCAction, timeout: float
    ) -> HandlerResult: ...
