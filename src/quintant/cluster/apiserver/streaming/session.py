"""remotecommand.ServeExec: a client and a program, joined until either ends.

Bytes go as fast as the slower of the two takes them; nothing is kept for a client that does not
read. A client that leaves takes the program with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import (
    ContainerNotFound,
    ExecError,
    ExecOptions,
    ExecProcess,
)
from quintant.cluster.apiserver.meta.status import internal_error
from quintant.cluster.apiserver.streaming.channels import (
    ExecChannel,
    error_status,
    exit_status,
    outcome,
    read_size,
    success_status,
)

IDLE_SECONDS = 4 * 3600.0
"""Without a byte in either direction, a session ends: what kubelets have by default."""
CLOSE_SECONDS = 10.0
"""For a client to read the rest, once a session is over."""
_OUTPUTS = {"stdout": ExecChannel.STDOUT, "stderr": ExecChannel.STDERR}


class ClientStreams(Protocol):
    """The streams of a client, whatever they are carried in."""

    def messages(self) -> AsyncIterator[tuple[int, bytes]]:
        """What comes, and on which channel; `CLOSE` with a channel's number is the end of that."""

    async def send(self, channel: int, payload: bytes) -> None:
        """Send something on a channel, once there is room."""

    async def close(self) -> None:
        """Say that nothing more will come."""


Start = Callable[[], Awaitable[ExecProcess]]
"""Starts what a session is with; ContainerNotFound or ExecError if that is impossible."""


async def serve_exec(
    client: ClientStreams, start: Start, options: ExecOptions, protocol: str
) -> None:
    """Run a command for a client, and tell it how that ended."""
    try:
        process = await start()
    except (ContainerNotFound, ExecError) as error:
        text = f"error executing command in container: {error}"
        await _end(client, outcome(protocol, error_status(internal_error(text))))
        return
    try:
        status = await _joined(client, process, options)
    except TimeoutError:
        text = f"the session was idle for {IDLE_SECONDS / 3600:g} hours"
        status = error_status(internal_error(text))
    finally:
        process.kill()
    await _end(client, outcome(protocol, status))


async def _joined(client: ClientStreams, process: ExecProcess, options: ExecOptions) -> bytes:
    """Carry bytes until the program has ended and all its output is sent; what to tell of it."""
    async with asyncio.timeout(IDLE_SECONDS) as limit, asyncio.TaskGroup() as group:
        taking = group.create_task(_take_input(client, process, options, limit))
        sending = [
            group.create_task(_send_output(client, process, name, limit))
            for name in _wanted(options)
        ]
        code = await process.ended()
        for each in sending:
            await each
        taking.cancel()
    return exit_status(options.command, code) if code else success_status()


def _wanted(options: ExecOptions) -> list[str]:
    """The outputs that are sent; a terminal has one."""
    stderr = options.stderr and not options.tty
    return [*(["stdout"] if options.stdout else []), *(["stderr"] if stderr else [])]


async def _take_input(
    client: ClientStreams, process: ExecProcess, options: ExecOptions, limit: asyncio.Timeout
) -> None:
    async for channel, payload in client.messages():
        _extend(limit)
        if channel == ExecChannel.STDIN and options.stdin:
            await process.write(payload)
        elif channel == ExecChannel.RESIZE and (size := read_size(payload)) is not None:
            process.resize(size)
        elif channel == ExecChannel.CLOSE and payload == bytes((ExecChannel.STDIN,)):
            process.close_stdin()
    process.kill()


async def _send_output(
    client: ClientStreams, process: ExecProcess, name: str, limit: asyncio.Timeout
) -> None:
    while data := await process.read(name):
        await client.send(_OUTPUTS[name], data)
        _extend(limit)


def _extend(limit: asyncio.Timeout) -> None:
    """Something went through: the session is not idle."""
    if not limit.expired():
        limit.reschedule(asyncio.get_running_loop().time() + IDLE_SECONDS)


async def _end(client: ClientStreams, message: bytes) -> None:
    """Tell a client the outcome, and wait until it has read that; not for ever."""
    if message:
        await client.send(ExecChannel.ERROR, message)
    await client.close()
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            async for _ in client.messages():
                pass
    except TimeoutError:
        return
