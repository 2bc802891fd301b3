from __future__ import annotations

import asyncio

import pytest

from quintant.agents.tunnel.service_stream import ServiceStream
from unit.agents.multiplex.ends import End, joined, pump


class Socket(asyncio.Transport):
    """The connection to a Service, as far as a tunnel sees it."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.shut, self.closed = b"", False, False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def write_eof(self) -> None:
        self.shut = True

    def can_write_eof(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def visit() -> tuple[End, End, ServiceStream, Socket, list[str]]:
    """A relay with a visitor, the tunnel, what leads to the Service, and how that ended."""
    relay, tunnel = joined(window=1 << 16)
    near = relay.open()
    pump(relay, tunnel)
    ended: list[str] = []
    stream = ServiceStream(
        tunnel.ears[near.stream.id].stream, lambda _, result: ended.append(result)
    )
    socket = Socket()
    stream.connection_made(socket)
    return relay, tunnel, stream, socket, ended


def test_a_service_that_goes_on_after_the_visitor_is_read_to_its_end() -> None:
    relay, tunnel, stream, socket, _ = visit()
    near = next(iter(relay.ears.values()))
    near.stream.send(b"all of it")
    near.stream.finish()
    pump(relay, tunnel)
    assert socket.written == b"all of it"
    assert (socket.shut, socket.closed) == (True, False)
    stream.data_received(b"answer")
    # What is returned says whether the connection is kept: both ends are done.
    assert stream.eof_received() is False
    pump(relay, tunnel)
    assert (near.got, near.over) == (b"answer", True)


def test_a_connection_on_which_both_ends_are_done_is_closed() -> None:
    relay, tunnel, stream, socket, _ = visit()
    near = next(iter(relay.ears.values()))
    assert stream.eof_received() is True
    pump(relay, tunnel)
    near.stream.send(b"last words")
    near.stream.finish()
    pump(relay, tunnel)
    assert socket.written == b"last words"
    assert socket.closed


@pytest.mark.parametrize("first", ["visitor", "service"])
def test_a_visit_ends_once_and_well(first: str) -> None:
    relay, tunnel, stream, socket, ended = visit()
    near = next(iter(relay.ears.values()))
    for who in (first, "service" if first == "visitor" else "visitor"):
        if who == "visitor":
            near.stream.finish()
        else:
            stream.eof_received()
        pump(relay, tunnel)
    stream.connection_lost(None)
    assert ended == ["ok"]
    assert socket.written == b""
