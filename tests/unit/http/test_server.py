from __future__ import annotations

import asyncio
import gc
import logging
import weakref
from collections.abc import AsyncGenerator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.http.request import Request, RequestLimits
from quintant.http.response import Response, StreamingResponse, text_response
from quintant.http.server import serving
from unit.http.client_connection import ClientConnection, ServerFixture, bodies, in_memory_server

GET = b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST /%s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s"
MOST = 1000


async def echo(request: Request) -> Response | StreamingResponse:
    body = await request.body(MOST)
    if len(body) > MOST:
        return Response(413)
    return Response(200, {}, f"{request.method} {request.target} ".encode() + body)


async def two(_: Request) -> StreamingResponse:
    return StreamingResponse(pieces(b"one", b"", b"two"))


async def pieces(*parts: bytes) -> AsyncGenerator[bytes, None]:
    for part in parts:
        yield part
        await asyncio.sleep(0)


async def test_one_request_after_another_is_answered_in_order() -> None:
    async with in_memory_server(echo) as here:
        got = await here.ask(GET % b"1" + POST % (b"2", 3, b"xyz") + GET % b"3")
    assert bodies(got) == [(200, b"GET /1 "), (200, b"POST /2 xyz"), (200, b"GET /3 ")]


CHUNKS = b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
CHUNKED = b"POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS


@given(st.lists(st.integers(0, 200), max_size=8))
async def test_it_does_not_matter_how_requests_are_cut(cuts: list[int]) -> None:
    whole = GET % b"1" + POST % (b"2", 3, b"xyz") + CHUNKED + GET % b"3"
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    async with in_memory_server(echo) as here:
        line = here.dial()
        for start, end in pairwise(edges):
            if end > start:
                line.send(whole[start:end])
                await line.settle()
        assert bodies(await line.settle()) == [
            (200, b"GET /1 "),
            (200, b"POST /2 xyz"),
            (200, b"POST /c abcde"),
            (200, b"GET /3 "),
        ]


class Kept(logging.Handler):
    """What the server complained of."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@given(st.binary(max_size=300))
async def test_no_bytes_make_it_fail(raw: bytes) -> None:
    log, kept = logging.getLogger("quintant.http.server"), Kept()
    log.addHandler(kept)
    try:
        async with in_memory_server(echo) as here:
            await here.ask(raw + b"\r\n\r\n")
            await here.ask(GET[:-2] % b"x" + raw + b"\r\n\r\n")
            await here.ask(CHUNKED[: -len(CHUNKS)] + raw + b"\r\n\r\n")
    finally:
        log.removeHandler(kept)
    assert not kept.records


@pytest.mark.parametrize(
    ("raw", "status", "why"),
    [
        (b"nonsense\r\n\r\n", 400, b"not a request line of HTTP/1"),
        (b"GET / HTTP/1.1\r\n\r\n", 400, b"missing required Host header"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, b"too many Host headers"),
        (b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, b"malformed Host header"),
        (b"GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400, b"a target that is no path"),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, b"unsupported protocol version"),
        (CHUNKED.replace(b"chunked", b"gzip, chunked"), 501, b"unsupported transfer encoding"),
        (b"GET / HTTP/1.1\nHost: a\n\n", 400, b"a line that does not end with CRLF"),
        (
            CHUNKED.replace(b"\r\nT", b"\r\nContent-Length: 1\r\nT"),
            400,
            b"a transfer encoding that can be read in two ways",
        ),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 40_000, 431, b"a head of more than"),
        (GET[:-2] % b"" + b"A: b\r\n" * 101 + b"\r\n", 431, b"more than 100 fields"),
    ],
)
async def test_what_cannot_be_read_is_refused_and_ends_the_connection(
    raw: bytes, status: int, why: bytes
) -> None:
    async with in_memory_server(echo) as here:
        line = here.dial()
        line.send(raw)
        got = await line.settle()
        assert got.startswith(b"HTTP/1.1 %d " % status)
        assert why in got
        assert b"Connection: close\r\n" in got
        await asyncio.sleep(2)
        assert line.closed


async def test_who_sends_many_requests_at_once_does_not_keep_others_waiting() -> None:
    served: list[str] = []

    async def noted(request: Request) -> Response:
        served.append(request.path)
        return Response()

    async with in_memory_server(noted) as here:
        greedy, modest = here.dial(), here.dial()
        greedy.send(GET % b"greedy" * 20)
        modest.send(GET % b"modest")
        await greedy.settle()
    assert served.index("/modest") < 3
    assert served.count("/greedy") == 20


async def test_a_body_that_is_none_is_refused() -> None:
    async with in_memory_server(echo) as here:
        got = await here.ask(CHUNKED.replace(b"3\r\n", b"no\r\n"))
    assert b"400 Bad Request: a chunk without a size" in got


async def test_a_client_may_wait_for_leave_to_send_its_body() -> None:
    async with in_memory_server(echo) as here:
        line = here.dial()
        line.send((POST % (b"e", 3, b"")).replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
        assert await line.settle() == b"HTTP/1.1 100 Continue\r\n\r\n"
        line.got = b""
        line.send(b"abc")
        assert bodies(await line.settle()) == [(200, b"POST /e abc")]


async def test_a_client_that_waits_for_more_than_leave_is_refused() -> None:
    waits = (POST % (b"e", 3, b"")).replace(b"\r\n\r\n", b"\r\nExpect: miracles\r\n\r\n")
    async with in_memory_server(echo) as here:
        assert b"417 Expectation Failed" in await here.ask(waits)


async def test_a_body_that_nobody_reads_ends_the_connection_after_the_answer() -> None:
    async with in_memory_server(echo) as here:
        line = here.dial()
        line.send(POST % (b"l", 10**9, b"x" * (MOST + 1)))
        got = await line.settle()
        assert got.startswith(b"HTTP/1.1 413 ")
        assert b"Connection: close" in got
        line.send(b"more, while the client has not seen it yet")
        assert not line.closed
        await asyncio.sleep(2)
        assert line.closed


@pytest.mark.parametrize(
    "last",
    [b"GET / HTTP/1.0\r\n\r\n", GET[:-2] % b"" + b"Connection: foo, Close\r\n\r\n"],
)
async def test_the_last_request_of_a_connection_ends_it(last: bytes) -> None:
    async with in_memory_server(echo) as here:
        line = here.dial()
        line.send(last + GET % b"never")
        assert bodies(await line.settle()) == [(200, b"GET / ")]
        assert line.closed


async def test_the_answer_to_head_has_a_length_and_no_body() -> None:
    async with in_memory_server(echo) as here:
        got = await here.ask(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + GET % b"")
    assert b"Content-Length: 7" in got
    assert got.endswith(b"\r\n\r\nGET / ")


async def test_an_absolute_target_is_taken_for_its_path() -> None:
    async with in_memory_server(echo) as here:
        got = await here.ask(b"GET http://a.example:80/p?q=1 HTTP/1.1\r\nHost: a\r\n\r\n")
    assert bodies(got) == [(200, b"GET /p?q=1 ")]


async def test_an_answer_that_goes_on_is_sent_in_chunks() -> None:
    async with in_memory_server(two) as here:
        line = here.dial()
        line.send(GET % b"" * 2)
        got = await line.settle()
        assert got.count(b"\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n") == 2
        assert not line.closed


async def test_an_old_client_gets_it_until_the_end_of_the_connection() -> None:
    async with in_memory_server(two) as here:
        line = here.dial()
        line.send(b"GET / HTTP/1.0\r\n\r\n")
        got = await line.settle()
        assert got.endswith(b"\r\n\r\nonetwo")
        assert b"chunked" not in got
        assert line.closed


async def test_a_flow_of_known_size_says_so() -> None:
    async def sized(_: Request) -> StreamingResponse:
        return StreamingResponse(pieces(b"one", b"two"), size=6)

    async with in_memory_server(sized) as here:
        assert bodies(await here.ask(GET % b"")) == [(200, b"onetwo")]


class Endless:
    """Answers without end, and knows how it ended."""

    def __init__(self, patience: float) -> None:
        self.ended, self.patience = 0, patience
        self.more = asyncio.Event()

    async def handle(self, _: Request) -> StreamingResponse:
        return StreamingResponse(self.pieces(), self.over, write_timeout=self.patience)

    def over(self) -> None:
        self.ended += 1

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        while True:
            yield b"x"
            await self.more.wait()
            self.more.clear()


async def flowing(line: ClientConnection) -> None:
    line.send(GET % b"")
    assert b"1\r\nx\r\n" in await line.settle()


async def unread(here: ServerFixture, source: Endless) -> ClientConnection:
    """A client that is told something, and then no longer reads."""
    line = here.dial()
    await flowing(line)
    assert line.protocol is not None
    line.protocol.pause_writing()
    source.more.set()
    return line


async def cut_within(seconds: float, line: ClientConnection) -> bool:
    await asyncio.sleep(seconds)
    return line.aborted


async def test_a_client_that_leaves_ends_what_it_was_told() -> None:
    source = Endless(5)
    async with in_memory_server(source.handle) as here:
        line = here.dial()
        await flowing(line)
        line.hang_up()
        await line.settle()
        assert source.ended == 1


async def test_a_client_that_does_not_read_is_cut_off_when_patience_ends() -> None:
    source = Endless(5)
    async with in_memory_server(source.handle) as here:
        line = await unread(here, source)
        assert not await cut_within(4, line)
        assert await cut_within(2, line)
        assert source.ended == 1


async def test_what_waits_for_a_client_that_left_does_not_wait_for_the_garbage_collector() -> None:
    source = Endless(5)
    async with in_memory_server(source.handle) as here:
        line = await unread(here, source)
        await line.settle()
        buffers = weakref.ref(line)
        gc.disable()
        try:
            line.abort()
            await line.settle()
            del line
            assert buffers() is None
        finally:
            gc.enable()


async def test_a_client_that_reads_in_time_is_told_more() -> None:
    source = Endless(5)
    async with in_memory_server(source.handle) as here:
        line = await unread(here, source)
        assert not await cut_within(4, line)
        assert line.protocol is not None
        line.protocol.resume_writing()
        source.more.set()
        assert (await line.settle()).count(b"x\r\n") == 3
        await asyncio.sleep(100)
        assert not line.closed


async def test_a_client_is_read_no_faster_than_its_requests_are_answered() -> None:
    go = asyncio.Event()

    async def slow(request: Request) -> Response:
        await go.wait()
        return Response(200, {}, str(len(await request.body(10**6))).encode())

    async with in_memory_server(slow) as here:
        line = here.dial()
        line.send(POST % (b"", 300_000, b"x" * 100_000))
        await line.settle()
        paused = [line.paused]
        go.set()
        await line.settle()
        assert [*paused, line.paused] == [True, False]
        line.send(b"x" * 200_000)
        assert bodies(await line.settle()) == [(200, b"300000")]


async def test_a_head_that_does_not_end_is_refused_in_time() -> None:
    async with in_memory_server(echo, RequestLimits(head_seconds=10)) as here:
        line = here.dial()
        for _ in range(9):
            line.send(b"GET / HTTP/1.1\r\nHost: a\r\n"[:2])
            await asyncio.sleep(1)
        assert not line.got
        await asyncio.sleep(2)
        assert line.got.startswith(b"HTTP/1.1 408 ")


async def test_who_asks_nothing_is_let_go_sooner_at_first_than_later() -> None:
    async with in_memory_server(echo, RequestLimits(first_seconds=5, idle_seconds=50)) as here:
        mute, known = here.dial(), here.dial()
        known.send(GET % b"")
        await asyncio.sleep(6)
        assert mute.closed
        assert not mute.got
        await asyncio.sleep(40)
        assert not known.closed
        await asyncio.sleep(6)
        assert known.closed


async def test_a_handler_that_fails_harms_no_other_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(request: Request) -> Response:
        if request.path == "/bad":
            raise KeyError("secret")
        return text_response("ok")

    async with in_memory_server(broken) as here:
        got = await here.ask(GET % b"bad" + GET % b"good")
    assert bodies(got) == [(500, b"500 Internal Server Error"), (200, b"ok\n")]
    assert "no answer to GET /bad" in caplog.text


async def test_a_handler_is_cancelled_when_its_client_leaves() -> None:
    left = asyncio.Event()

    async def patient(_: Request) -> Response:
        try:
            await asyncio.sleep(1000)
        finally:
            left.set()
        return Response()

    async with in_memory_server(patient) as here:
        line = here.dial()
        line.send(GET % b"")
        await line.settle()
        line.hang_up()
        await asyncio.wait_for(left.wait(), 1)


async def test_stopping_dismisses_the_idle_and_lets_answers_end() -> None:
    async def slow(_: Request) -> Response:
        await asyncio.sleep(3)
        return text_response("late")

    async with in_memory_server(slow) as here:
        idle, busy = here.dial(), here.dial()
        busy.send(GET % b"" * 2)
        await busy.settle()
        began = asyncio.get_running_loop().time()
        await here.server.stop(30)
        assert asyncio.get_running_loop().time() - began == 3
        assert idle.closed
        assert bodies(busy.got) == [(200, b"late\n")]
        assert b"Connection: close" in busy.got


async def test_stopping_cuts_off_who_takes_too_long() -> None:
    source = Endless(5)
    async with in_memory_server(source.handle) as here:
        line = here.dial()
        await flowing(line)
        await here.server.stop(2)
        assert line.closed
        assert source.ended == 1


@pytest.mark.realtime
async def test_it_serves_on_a_socket() -> None:
    async with serving(echo, "127.0.0.1", 0) as (host, port):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(GET % b"here")
        got = await reader.readuntil(b"GET /here ")
        assert got.startswith(b"HTTP/1.1 200 OK\r\n")
        writer.close()
        await writer.wait_closed()
