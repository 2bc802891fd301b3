"""Promises of quintant.testing.faults.transport."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from quintant.api.core import Pod
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.core.clock import monotonic
from quintant.core.errors import (
    ConnectError,
    DeadlineExceeded,
    StreamStalled,
    TooManyRequests,
    TransportError,
    from_reply,
)
from quintant.testing.faults.match import verb, watch, writes
from quintant.testing.faults.transport import FaultTransport
from quintant.testing.loop import advance, settle
from unit.client.server import Server

GET = ApiRequest("GET", "/api/v1/namespaces/a/pods/web")
POST = ApiRequest("POST", "/api/v1/namespaces/a/pods")
PODS = ApiRequest("GET", "/api/v1/pods", {"watch": "1"})
NODES = ApiRequest("GET", "/api/v1/nodes", {"watch": "1"})


@dataclass
class Reader:
    """What one reader of a stream got, and when."""

    words: list[tuple[float, bytes]] = field(default_factory=list)
    end: TransportError | str | None = None

    @property
    def open(self) -> bool:
        return self.end is None

    @property
    def heard(self) -> list[bytes]:
        return [word for _, word in self.words]


@asynccontextmanager
async def reading(faults: FaultTransport, call: ApiRequest = PODS) -> AsyncIterator[Reader]:
    reader = Reader()

    async def read() -> None:
        try:
            async with faults.stream(call) as stream:
                async for chunk in stream.chunks:
                    reader.words.append((monotonic(), chunk))
            reader.end = "ended"
        except TransportError as error:
            reader.end = error

    task = asyncio.ensure_future(read())
    await settle()
    try:
        yield reader
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_nothing_changes_without_rules() -> None:
    server = Server()
    faults = FaultTransport(server)
    assert await faults.request(GET) == ApiResponse(200)
    async with reading(faults) as reader:
        server.say(b"a\n")
        server.say(b"b\n")
        server.say(None)
        await settle()
        assert (reader.heard, reader.end) == ([b"a\n", b"b\n"], "ended")
    async with faults.stream(PODS) as stream:
        assert (stream.status, stream.headers) == (200, {"x": "y"})
    await faults.close()
    assert server.closed


async def test_broken_stream_breaks_for_the_reader() -> None:
    server = Server()
    async with reading(FaultTransport(server)) as reader:
        server.say(StreamStalled("silent"))
        await settle()
        assert isinstance(reader.end, StreamStalled)


async def test_requests_are_remembered_with_their_outcome() -> None:
    faults = FaultTransport(Server())
    faults.refuse(verb("get"), times=1)
    with pytest.raises(ConnectError):
        await faults.request(GET)
    await advance(5)
    await faults.request(POST)
    async with faults.stream(PODS):
        pass
    assert [(sent.verb, sent.at, sent.outcome) for sent in faults.calls] == [
        ("get", 0, "ConnectError"),
        ("create", 5, 200),
        ("watch", 5, 200),
    ]
    assert [sent.call for sent in faults.seen(writes)] == [POST]


async def test_refused_request_never_reaches_the_server() -> None:
    server = Server()
    faults = FaultTransport(server)
    fault = faults.refuse()
    for call in (GET, POST):
        with pytest.raises(ConnectError, match="refused"):
            await faults.request(call)
    with pytest.raises(ConnectError):
        async with faults.stream(PODS):
            raise AssertionError
    assert fault.hits == 3
    assert not server.received
    fault.lift()
    assert (await faults.request(GET)).status == 200


async def test_lost_answer_was_carried_out() -> None:
    server = Server()
    faults = FaultTransport(server)
    faults.lose(writes, times=1)
    faults.lose(writes, late=True, times=1)
    await faults.request(GET)
    with pytest.raises(ConnectError, match="answer was lost"):
        await faults.request(POST)
    with pytest.raises(DeadlineExceeded):
        await faults.request(POST)
    assert (await faults.request(POST)).status == 200
    assert [call.method for _, call in server.received] == ["GET", "POST", "POST", "POST"]


async def test_answer_is_a_status_the_client_understands() -> None:
    server = Server()
    faults = FaultTransport(server)
    faults.answer(429, retry_after=3, when=verb("get"), times=1)
    reply = await faults.request(GET)
    error = from_reply(reply.status, reply.body, "", reply.headers["retry-after"])
    assert isinstance(error, TooManyRequests)
    assert (error.reason, error.retry_after) == ("TooManyRequests", 3)
    assert not server.received
    assert (await faults.request(GET)).status == 200


async def test_stream_can_be_answered_with_an_error() -> None:
    server = Server()
    faults = FaultTransport(server)
    faults.answer(410, message="too old", when=watch(Pod))
    async with faults.stream(PODS) as stream:
        assert stream.status == 410
        body = b"".join([chunk async for chunk in stream.chunks])
    assert json.loads(body)["message"] == "too old"
    assert not server.received


async def test_rules_spare_the_first_and_end_by_number() -> None:
    faults = FaultTransport(Server())
    fault = faults.answer(503, when=verb("get"), skip=2, times=3)
    statuses = [(await faults.request(GET)).status for _ in range(7)]
    assert statuses == [200, 200, 503, 503, 503, 200, 200]
    assert (fault.hits, fault.spent) == (3, True)


async def test_delayed_request_arrives_later() -> None:
    server = Server()
    faults = FaultTransport(server)
    with faults.delay(7) as fault:
        await faults.request(GET)
    await faults.request(GET)
    assert [at for at, _ in server.received] == [7, 7]
    assert fault.hits == 1


async def test_request_delayed_beyond_its_limit_is_not_sent() -> None:
    server = Server()
    faults = FaultTransport(server)
    faults.delay(7)
    with pytest.raises(DeadlineExceeded):
        await faults.request(ApiRequest("POST", "/api", timeout=5))
    assert monotonic() == 5
    assert not server.received


async def test_stalled_stream_is_silent_until_lifted_even_if_it_was_open() -> None:
    server = Server()
    faults = FaultTransport(server)
    async with reading(faults) as pods, reading(faults, NODES) as nodes:
        with faults.stall(watch(Pod)) as fault:
            async with reading(faults) as late:
                server.say(b"a\n")
                await advance(3600)
                assert (pods.heard, late.heard, nodes.heard) == ([], [], [b"a\n"])
                assert pods.open
                assert fault.hits == 2
        await settle()
        assert pods.heard == [b"a\n"]


async def test_stalled_request_hangs_until_lifted_or_out_of_time() -> None:
    server = Server()
    faults = FaultTransport(server)
    fault = faults.stall(verb("get"))
    with pytest.raises(DeadlineExceeded):
        await faults.request(GET)
    assert monotonic() == 60
    waiting = asyncio.ensure_future(faults.request(GET))
    await advance(10)
    assert not server.received
    fault.lift()
    assert (await waiting).status == 200
    assert fault.hits == 2


async def test_lagging_stream_keeps_its_order() -> None:
    server = Server()
    faults = FaultTransport(server)
    async with reading(faults) as reader:
        fault = faults.lag(5, watch(Pod))
        server.say(b"a\n")
        await advance(3)
        server.say(b"b\n")
        await settle()
        fault.lift()
        server.say(b"c\n")
        await advance(10)
        assert reader.words == [(5, b"a\n"), (8, b"b\n"), (8, b"c\n")]


async def test_cut_breaks_open_streams_at_once_and_no_others() -> None:
    server = Server()
    faults = FaultTransport(server)
    async with reading(faults) as pods, reading(faults, NODES) as nodes:
        assert faults.cut(watch(Pod)) == 1
        await settle()
        assert isinstance(pods.end, ConnectError)
        assert nodes.open
        assert faults.cut(clean=True) == 1
        await settle()
        assert nodes.end == "ended"
    assert not server.streams


async def test_silenced_stream_stays_open_for_ever_and_new_ones_speak() -> None:
    server = Server()
    faults = FaultTransport(server)
    async with reading(faults) as old:
        assert faults.silence(watch(Pod)) == 1
        async with reading(faults) as new:
            server.say(b"a\n")
            server.say(None)
            await advance(3600)
            assert (old.heard, old.open) == ([], True)
            assert (new.heard, new.end) == ([b"a\n"], "ended")


async def test_truncated_stream_ends_within_a_line() -> None:
    server = Server()
    faults = FaultTransport(server)
    fault = faults.truncate(watch(Pod))
    async with reading(faults) as reader:
        server.say(b"abcdef\n")
        await settle()
        assert reader.heard == [b"abc"]
        assert isinstance(reader.end, ConnectError)
    async with reading(faults) as reader:
        server.say(b"abcdef\n")
        await settle()
        assert reader.heard == [b"abcdef\n"]
    assert fault.hits == 1


async def test_garbage_and_errors_are_said_into_open_streams() -> None:
    server = Server()
    faults = FaultTransport(server)
    async with reading(faults) as reader:
        assert faults.garble(watch(Pod)) == 1
        assert faults.fail(410, watch(Pod), message="too old") == 1
        server.say(b"a\n")
        await settle()
        garbage, error, said = reader.heard
        assert json.loads(error)["object"]["reason"] == "Expired"
        with pytest.raises(json.JSONDecodeError):
            json.loads(garbage)
        assert said == b"a\n"


async def test_clearing_lifts_every_rule_and_lifting_twice_is_fine() -> None:
    faults = FaultTransport(Server())
    rules = [faults.stall(), faults.refuse(), faults.answer(500)]
    faults.clear()
    for rule in rules:
        rule.lift()
    assert (await faults.request(GET)).status == 200
