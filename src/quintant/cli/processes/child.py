"""One life of a child process: started, asked how it is, ended. All effects, no decisions.

A child has a session of its own, so that Ctrl-C reaches the parent alone, and the kernel ends it
with the parent. Its log lines go on to where ours go; the last ones are kept to tell why it ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from quintant.cli.processes.child_settings import VARIABLE, ChildSettings
from quintant.core.address import BindAddress
from quintant.core.clock import monotonic
from quintant.die_with_parent import die_with_parent
from quintant.http.client_connection import ClientConnection, ConnectionBroken, ResponseTooLarge
from quintant.http.encode_request import encode_request
from quintant.http.head import ProtocolError

LOOPBACK = "127.0.0.1"
KEPT_LINES = 5
CUT_LINE = 300
"""Of the last lines, in our own log."""
PIECE_BYTES = 64 * 1024
OUTPUT_SECONDS = 2.0
"""How long the output of a child that ended may still be held open by something it started."""
MOST_BYTES = 16 * 1024 * 1024
"""Of an answer: series of some 100,000 labels."""
FAILURES = (ConnectionBroken, OSError, ProtocolError, ResponseTooLarge, TimeoutError)


class ChildCommand(Struct, frozen=True):
    """How children are started."""

    words: Sequence[str]
    """The command line of the parent."""
    relay: Callable[[bytes], None]
    """Takes what they log, whole lines as a rule."""
    log_format: Literal["json", "console"]


class Child:
    """One life of a child."""

    def __init__(
        self,
        identity: str,
        process: asyncio.subprocess.Process,
        port: int,
        relay: Callable[[bytes], None],
    ) -> None:
        self.identity = identity
        self.began: float = monotonic()
        self.last_lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._process, self._port, self._relay = process, port, relay

    @property
    def pid(self) -> int:
        """Of the process, as long as it is not reaped."""
        return self._process.pid

    async def wait(self) -> int:
        """Pass its lines on until it ends; its exit code, negative for a signal."""
        reading = asyncio.create_task(self._read())
        try:
            code = await self._process.wait()
            # Whatever it has started and left.
            self._signal_session(signal.SIGKILL)
            await asyncio.wait({reading}, timeout=OUTPUT_SECONDS)
        finally:
            reading.cancel()
            await asyncio.wait({reading})
        return code

    def terminate(self) -> None:
        """Ask it to stop in order."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.terminate()

    async def kill(self) -> None:
        """End it at once, and wait until it has."""
        self._signal_session(signal.SIGKILL)
        await self._process.wait()

    async def get(self, path: str, seconds: float) -> tuple[int, bytes]:
        """Status and body of what it answers; one of FAILURES if it does not."""
        address = BindAddress(LOOPBACK, self._port)
        data = encode_request("GET", path, f"Host: {address}\r\nConnection: close\r\n", None)
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(seconds):
            _, connection = await loop.create_connection(_connection, LOOPBACK, self._port)
            try:
                head, body = await connection.request("GET", data, most=MOST_BYTES, seconds=seconds)
            finally:
                connection.close()
        return head.status, body

    async def _read(self) -> None:
        output = self._process.stderr
        assert output is not None, "it is a pipe"
        rest = b""
        while piece := await output.read(PIECE_BYTES):
            lines, newline, rest = (rest + piece).rpartition(b"\n")
            if newline:
                self._pass_on(lines + newline)
            if len(rest) > PIECE_BYTES:
                self._pass_on(rest)
                rest = b""
        if rest:
            self._pass_on(rest + b"\n")

    def _pass_on(self, lines: bytes) -> None:
        with suppress(OSError):  # nobody takes our log; who stopped reading would stop the child
            self._relay(lines)
        for line in lines.splitlines()[-KEPT_LINES:]:
            self.last_lines.append(line[:CUT_LINE].decode("utf-8", "replace"))

    def _signal_session(self, number: int) -> None:
        with suppress(OSError):
            os.killpg(self._process.pid, number)


async def start_child(number: int, identity: str, command: ChildCommand) -> Child:
    """Start a child, with a socket on which it will answer."""
    with socket.create_server((LOOPBACK, 0)) as listening:
        descriptor = listening.fileno()
        settings = ChildSettings(number, identity, descriptor, command.log_format)
        process = await asyncio.create_subprocess_exec(
            *die_with_parent(command.words),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, VARIABLE: settings.encode()},
            pass_fds=(descriptor,),
            start_new_session=True,
        )
        return Child(identity, process, listening.getsockname()[1], command.relay)


def own_command() -> list[str]:
    """The command line that this process runs."""
    return [sys.executable, "-m", "quintant", *sys.argv[1:]]


def _connection() -> ClientConnection:
    return ClientConnection(lambda _: None)
