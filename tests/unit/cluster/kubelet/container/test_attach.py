"""Clients that are attached to a container: what they see, and what they cannot do to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import ExecOptions, TerminalSize
from quintant.cluster.kubelet.container.attach import (
    WAITING_BYTES,
    AttachedContainer,
    ContainerOutput,
)

BOTH = ExecOptions((), stdin=True, stdout=True, stderr=True)


@dataclass
class Log:
    """What was written to a log."""

    text: bytes = b""
    closed: bool = False

    def write(self, stream: str, data: bytes) -> None:
        self.text += data

    def close(self) -> None:
        self.closed = True


@dataclass
class Input:
    """The input of a program."""

    text: bytes = b""
    over: bool = False
    sizes: list[TerminalSize] = field(default_factory=list)

    async def write(self, data: bytes) -> None:
        self.text += data

    def end(self) -> None:
        self.over = True

    def resize(self, size: TerminalSize) -> None:
        self.sizes.append(size)


def attached(
    output: ContainerOutput,
    stdin: Input | None = None,
    options: ExecOptions = BOTH,
    *,
    once: bool = False,
) -> AttachedContainer:
    return AttachedContainer(output, stdin, options, once=once)


async def test_every_client_sees_each_output_apart() -> None:
    output = ContainerOutput(Log())
    first, second = attached(output), attached(output)
    output.write("stdout", b"out")
    output.write("stderr", b"err")
    for each in (first, second):
        assert (await each.read("stderr"), await each.read("stdout")) == (b"err", b"out")


async def test_a_client_sees_the_rest_and_then_the_end() -> None:
    log = Log()
    output = ContainerOutput(log)
    client = attached(output)
    output.write("stdout", b"last")
    output.close()
    assert await client.ended() == 0
    assert [await client.read("stdout"), await client.read("stdout")] == [b"last", b""]
    assert log.closed


async def test_a_client_that_does_not_read_is_let_go_and_the_program_goes_on() -> None:
    log = Log()
    output = ContainerOutput(log)
    idle = attached(output)
    for _ in range(3):
        output.write("stdout", bytes(WAITING_BYTES // 2))
    assert await idle.ended() == 0
    output.write("stdout", b"more")
    assert log.text.endswith(b"more")


async def test_what_a_client_does_not_want_does_not_wait_for_it() -> None:
    output = ContainerOutput(Log())
    client = attached(output, options=ExecOptions((), stdout=True))
    for _ in range(3):
        output.write("stderr", bytes(WAITING_BYTES))
    output.write("stdout", b"seen")
    assert await client.read("stdout") == b"seen"
    assert await client.read("stderr") == b""


async def test_input_stays_open_for_the_next_client_unless_the_container_wants_it_once() -> None:
    for once in (False, True):
        given, output = Input(), ContainerOutput(Log())
        client = attached(output, given, once=once)
        await client.write(b"typed")
        client.resize(TerminalSize(80, 24))
        client.kill()
        assert (given.text, given.sizes) == (b"typed", [TerminalSize(80, 24)])
        assert given.over is once


async def test_who_only_looks_writes_nothing() -> None:
    given, output = Input(), ContainerOutput(Log())
    client = attached(output, given, ExecOptions((), stdout=True), once=True)
    await client.write(b"typed")
    client.kill()
    assert (given.text, given.over) == (b"", False)
