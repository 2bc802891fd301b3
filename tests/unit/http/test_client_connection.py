"""Promises of quintant.http.client_connection; how it fares on a network is told by http's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quintant.http.client_connection import (
    BUFFER_BYTES,
    ClientConnection,
    ConnectionBroken,
    ResponseTooLarge,
)
from quintant.http.head import ProtocolError
from quintant.testing.loop import advance, settle
from unit.client.recording_transport import RecordingTransport

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
ENDLESS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def connected() -> tuple[ClientConnection, RecordingTransport, list[ClientConnection]]:
    lost: list[ClientConnection] = []
    connection, wire = ClientConnection(lost.append), RecordingTransport()
    connection.connection_made(wire)
    return connection, wire, lost


def asking(connection: ClientConnection, **more: Any) -> asyncio.Task[Any]:
    limits = {"most": 1000, "seconds": 10.0, **more}
    return asyncio.ensure_future(connection.request("GET", b"question", **limits))


async def test_one_request_follows_the_other() -> None:
    connection, wire, _ = connected()
    for number in (1, 2):
        task = asking(connection)
        await settle()
        connection.data_received(OK)
        head, body = await task
        assert (head.status, body) == (200, b"ok")
        assert connection.usable
        assert wire.written == [b"question"] * number


async def test_answer_that_does_not_come_in_time_ends_the_connection() -> None:
    connection, wire, _ = connected()
    task = asking(connection, seconds=5.0)
    await advance(5.1)
    with pytest.raises(TimeoutError):
        await task
    assert wire.aborted
    assert not connection.usable


async def test_request_that_is_given_up_ends_the_connection() -> None:
    connection, wire, _ = connected()
    task = asking(connection)
    await settle()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert wire.aborted


@pytest.mark.parametrize(
    ("sent", "begun"), [(b"", False), (b"HTTP", True), (ENDLESS + b"5\r\nab", True)]
)
async def test_broken_connection_says_whether_an_answer_had_begun(sent: bytes, begun: bool) -> None:
    connection, _, lost = connected()
    task = asking(connection)
    await settle()
    if sent:
        connection.data_received(sent)
    connection.connection_lost(None)
    with pytest.raises(ConnectionBroken) as caught:
        await task
    assert caught.value.begun == begun
    assert lost == [connection]


async def test_answer_may_end_with_the_connection() -> None:
    connection, _, _ = connected()
    task = asking(connection)
    await settle()
    connection.data_received(b"HTTP/1.0 200 OK\r\n\r\nall")
    connection.connection_lost(None)
    assert (await task)[1] == b"all"
    assert not connection.usable


async def test_bytes_that_nobody_asked_for_end_the_connection() -> None:
    connection, wire, _ = connected()
    connection.data_received(OK)
    assert wire.aborted
    assert not connection.usable
    with pytest.raises(ConnectionBroken):
        await connection.request("GET", b"question", most=1000, seconds=10.0)


async def test_nonsense_ends_the_connection() -> None:
    connection, wire, _ = connected()
    task = asking(connection)
    await settle()
    connection.data_received(b"SSH-2.0\r\n\r\n")
    with pytest.raises(ProtocolError):
        await task
    assert wire.aborted


@pytest.mark.parametrize(
    "raw", [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", ENDLESS + b"9\r\n123456789\r\n"]
)
async def test_answer_larger_than_wanted_is_refused(raw: bytes) -> None:
    connection, wire, _ = connected()
    task = asking(connection, most=8)
    await settle()
    connection.data_received(raw)
    with pytest.raises(ResponseTooLarge):
        await task
    assert wire.aborted


async def test_peer_waits_while_a_stream_is_not_read() -> None:
    connection, wire, _ = connected()
    opening = asyncio.ensure_future(connection.open("GET", b"question"))
    await settle()
    connection.data_received(ENDLESS)
    assert (await opening).status == 200
    size = BUFFER_BYTES + 1
    connection.data_received(b"%x\r\n%s\r\n" % (size, b"x" * size))
    assert wire.paused
    assert len(await connection.read()) == size
    assert not wire.paused


async def test_stream_gives_what_came_before_it_broke() -> None:
    connection, _, _ = connected()
    opening = asyncio.ensure_future(connection.open("GET", b"question"))
    await settle()
    connection.data_received(ENDLESS + b"1\r\na\r\n")
    connection.connection_lost(ConnectionResetError())
    await opening
    assert await connection.read() == b"a"
    with pytest.raises(ConnectionBroken) as caught:
        await connection.read()
    assert isinstance(caught.value.__cause__, ConnectionResetError)


async def test_end_of_a_stream_is_an_empty_piece_as_often_as_asked() -> None:
    connection, _, _ = connected()
    opening = asyncio.ensure_future(connection.open("GET", b"question"))
    await settle()
    connection.data_received(ENDLESS + b"1\r\na\r\n0\r\n\r\n")
    await opening
    assert [await connection.read() for _ in range(3)] == [b"a", b"", b""]
    assert connection.usable


async def test_an_opened_response_can_be_left_to_the_system_for_a_while() -> None:
    connection, carrier, _ = connected()
    above = RecordingTransport()
    connection.connection_made(above)  # TLS
    task = asyncio.ensure_future(connection.open("GET", b"question"))
    await settle()
    connection.data_received(ENDLESS)
    await task
    gathering = asyncio.ensure_future(connection.gather(5.0))
    paused = []
    for seconds in (4.9, 0.2):
        await advance(seconds)
        paused.append((carrier.paused, above.paused))
    await gathering
    # Below TLS, where nothing is decrypted meanwhile.
    assert paused == [(True, False), (False, False)]
    connection.data_received(b"2\r\nok\r\n")
    assert await connection.read() == b"ok"
