"""StreamingRuntime: commands in containers that run, as the API server asks nodes for them.

The node agent starts the program (quintant.cluster.kubelet.container.exec_in_container); who speaks
with the client (quintant.cluster.apiserver.streaming) carries bytes between the two, and no faster
than either takes them.
"""

from __future__ import annotations

from asyncio import StreamReader, StreamWriter
from typing import Protocol

from msgspec import Struct


class TerminalSize(Struct, frozen=True):
    """How large a client's terminal is, in characters."""

    width: int
    height: int


class ExecOptions(Struct, frozen=True):
    """What is run, and which of its streams are wanted: the options of pods/exec."""

    command: tuple[str, ...]
    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    tty: bool = False
    """In a terminal, whose one output is stdout."""


class ContainerNotFound(Exception):
    """No such container runs; the text says so in the words of a kubelet."""


class ExecError(Exception):
    """A command that cannot be run; the text says why."""


class ExecProcess(Protocol):
    """A program that speaks with a client."""

    async def read(self, stream: str) -> bytes:
        """What it wrote to stdout or stderr since, at least one byte; nothing at the end."""

    async def write(self, data: bytes) -> None:
        """Give it all of these bytes on stdin, as fast as it reads; what it never reads is lost."""

    def close_stdin(self) -> None:
        """Have it see the end of stdin."""

    def resize(self, size: TerminalSize) -> None:
        """Its terminal, if it has one, is so large from now on."""

    async def ended(self) -> int:
        """Wait for its end: the exit code, as a shell has it for signals."""

    def kill(self) -> None:
        """End it, and all that it started."""


class StreamingRuntime(Protocol):
    """Who runs some pods; add it to `ApiServer.streams.runtimes`."""

    def has(self, uid: str) -> bool:
        """Whether a pod is one of its own, by the pod's uid."""

    def check_container(self, uid: str, container: str) -> None:
        """ContainerNotFound unless the container of a pod that it has runs now."""

    async def exec(self, uid: str, container: str, options: ExecOptions) -> ExecProcess:
        """Run a command in a container; ContainerNotFound or ExecError if that is impossible."""

    async def attach(self, uid: str, container: str, options: ExecOptions) -> ExecProcess:
        """A container as it runs, from now on; ContainerNotFound if it does not run."""

    def check_pod(self, uid: str) -> None:
        """ContainerNotFound unless a pod that it has has an address now."""

    async def dial(self, uid: str, port: int) -> tuple[StreamReader, StreamWriter]:
        """Connect with a port of a pod; OSError if nothing answers, or the pod is no more."""
