"""What commands in containers of simulated pods come to, as a scenario says.

A simulated pod runs nothing. An operator that configures its workload by `exec` would wait for
ever: with `exec: ok` every command prints nothing and ends with 0, over WebSocket and SPDY.
"""

from __future__ import annotations

from asyncio import StreamReader, StreamWriter
from dataclasses import dataclass

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import (
    ExecOptions,
    ExecProcess,
    TerminalSize,
)

FAILED = 1


@dataclass(frozen=True, slots=True)
class ExecAnswers:
    """Answers for every pod."""

    code: int

    def has(self, uid: str) -> bool:
        return True

    def check_container(self, uid: str, container: str) -> None:
        """Every container runs."""

    async def exec(self, uid: str, container: str, options: ExecOptions) -> ExecProcess:
        return EndedProcess(self.code)

    async def attach(self, uid: str, container: str, options: ExecOptions) -> ExecProcess:
        return EndedProcess(0)

    def check_pod(self, uid: str) -> None:
        """Every pod has an address."""

    async def dial(self, uid: str, port: int) -> tuple[StreamReader, StreamWriter]:
        raise ConnectionRefusedError("a simulated pod listens nowhere")


@dataclass(slots=True)
class EndedProcess:
    """A command that has done what it should, and printed nothing."""

    code: int

    async def read(self, stream: str) -> bytes:
        return b""

    async def write(self, data: bytes) -> None:
        """Nobody reads it."""

    def close_stdin(self) -> None:
        """Nobody reads it."""

    def resize(self, size: TerminalSize) -> None:
        """There is no terminal."""

    async def ended(self) -> int:
        return self.code

    def kill(self) -> None:
        """It has ended."""
