"""Real gRPC on loopback: what peers, strangers and silence look like to the controller."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import grpc
import grpc.aio
import pytest

from quintant.operators.klight.observed.answers import JoinResult, PeerHealth, join_result
from quintant.operators.klight.remote.grpc_peers import REASON, GrpcPeers
from quintant.wire.lightpeer import (
    HealthCheckResponse,
    JoinRequest,
    JoinResponse,
    QueryResponse,
    Serving,
)

pytestmark = pytest.mark.realtime

Reply = Callable[[bytes, Any], Awaitable[bytes]]


@pytest.fixture
async def peers() -> AsyncIterator[GrpcPeers]:
    made = GrpcPeers()
    yield made
    await made.close()


class Recorder(grpc.GenericRpcHandler):
    """A peer that answers what it is told to, and logs what it is asked."""

    def __init__(self, **answers: Reply) -> None:
        self.asked: list[tuple[str, bytes]] = []
        self.answers = answers

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        path = details.method
        if path == "/Lightpeer/Query" and "Query" in self.answers:
            return grpc.unary_stream_rpc_method_handler(self._stream)
        name = path.rpartition("/")[2]
        if name not in self.answers:
            return None

        async def answer(asked: bytes, context: Any) -> bytes:
            self.asked.append((path, asked))
            return await self.answers[name](asked, context)

        return grpc.unary_unary_rpc_method_handler(answer)

    async def _stream(self, asked: bytes, context: Any) -> AsyncIterator[bytes]:
        for payload in (b"b", b"a"):
            yield QueryResponse(payload).encode()


@asynccontextmanager
async def listening(recorder: Recorder) -> AsyncIterator[str]:
    server = grpc.aio.server(handlers=[recorder])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


async def serving(asked: bytes, context: Any) -> bytes:
    return HealthCheckResponse(Serving.SERVING).encode()


async def joined(asked: bytes, context: Any) -> bytes:
    return JoinResponse().encode()


async def test_check_asks_for_the_server_itself(peers: GrpcPeers) -> None:
    recorder = Recorder(Check=serving)
    async with listening(recorder) as address:
        assert await peers.check(address, 5) is PeerHealth.SERVING
    assert recorder.asked == [("/grpc.health.v1.Health/Check", b"")]


async def test_join_tells_the_joiner_where_to_go_on_a_path_without_package(
    peers: GrpcPeers,
) -> None:
    recorder = Recorder(JoinNetwork=joined)
    async with listening(recorder) as address:
        answer = await peers.join(address, "10.0.0.1:9081", 5)
    assert join_result(answer) is JoinResult.JOINED
    assert recorder.asked == [("/Lightpeer/JoinNetwork", JoinRequest("10.0.0.1:9081").encode())]


async def test_draining_peer_does_not_serve(peers: GrpcPeers) -> None:
    async def draining(asked: bytes, context: Any) -> bytes:
        return HealthCheckResponse(Serving.NOT_SERVING).encode()

    async with listening(Recorder(Check=draining)) as address:
        assert await peers.check(address, 5) is PeerHealth.NOT_SERVING


async def test_port_where_nobody_listens_is_refused_at_once(peers: GrpcPeers) -> None:
    async with listening(Recorder()) as address:
        pass
    began = asyncio.get_running_loop().time()
    assert await peers.check(address, 5) is PeerHealth.REFUSED
    assert asyncio.get_running_loop().time() - began < 2


async def test_port_that_says_nothing_is_silent_until_the_deadline(peers: GrpcPeers) -> None:
    with mute() as address:
        assert await peers.check(address, 0.3) is PeerHealth.SILENT
        assert join_result(await peers.join(address, "10.0.0.1:9081", 0.3)) is JoinResult.UNSETTLED


async def test_web_server_is_no_lightpeer(peers: GrpcPeers) -> None:
    async with speaking(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") as address:
        assert await peers.check(address, 2) is PeerHealth.FOREIGN


async def test_server_without_health_is_no_lightpeer(peers: GrpcPeers) -> None:
    async with listening(Recorder()) as address:
        assert await peers.check(address, 5) is PeerHealth.FOREIGN
        assert join_result(await peers.join(address, "10.0.0.1:9081", 5)) is JoinResult.NOT_A_PEER


async def test_nonsense_in_an_answer_is_no_lightpeer(peers: GrpcPeers) -> None:
    async def nonsense(asked: bytes, context: Any) -> bytes:
        return b"\xff\xff\xff"

    async with listening(Recorder(Check=nonsense)) as address:
        assert await peers.check(address, 5) is PeerHealth.FOREIGN


async def test_impostor_with_health_is_found_out_by_a_closer_look(peers: GrpcPeers) -> None:
    async with listening(Recorder(Check=serving)) as address:
        assert await peers.inspect(address, 5) is PeerHealth.FOREIGN
    async with listening(Recorder(Check=serving, Query=joined)) as address:
        assert await peers.inspect(address, 5) is PeerHealth.SERVING


async def test_failed_join_carries_text_and_reason(peers: GrpcPeers) -> None:
    async def fail(asked: bytes, context: Any) -> bytes:
        context.set_trailing_metadata(((REASON, "parent-mismatch"),))
        await context.abort(grpc.StatusCode.UNKNOWN, "no")
        raise AssertionError

    async with listening(Recorder(JoinNetwork=fail)) as address:
        answer = await peers.join(address, "10.0.0.1:9081", 5)
    assert (answer.code, answer.text, answer.reason) == ("UNKNOWN", "no", "parent-mismatch")
    assert join_result(answer) is JoinResult.REFUSED


async def test_peer_of_another_make_tells_no_status_and_does_not_leave(peers: GrpcPeers) -> None:
    async with listening(Recorder(Check=serving)) as address:
        assert await peers.status(address, 5) is None
        assert (await peers.leave(address, "x", 5)).code == "UNIMPLEMENTED"


async def test_contents_tell_peers_apart_and_empty_ones_from_all(peers: GrpcPeers) -> None:
    async with (
        listening(Recorder(Query=joined)) as first,
        listening(Recorder(Query=joined)) as second,
        listening(Recorder()) as third,
    ):
        assert await peers.contents(first, 5) == await peers.contents(second, 5) != ()
        assert await peers.contents(third, 5) == ()


@pytest.mark.parametrize(
    ("said", "blank"),
    [
        ("new block links to invalid parent", False),
        ("could not unmarshal network block: unexpected end of JSON input", True),
        ("something else", None),
    ],
)
async def test_peer_of_another_make_shows_whether_it_has_a_chain(
    peers: GrpcPeers, said: str, blank: bool | None
) -> None:
    async def refuse(asked: bytes, context: Any) -> bytes:
        assert asked == b"", "anything else would stay in its chain"
        await context.abort(grpc.StatusCode.UNKNOWN, said)
        raise AssertionError

    async with listening(Recorder(NotifyNewBlock=refuse)) as address:
        assert await peers.blank(address, 5) is blank


async def test_silence_shows_no_chain_and_no_lack_of_one(peers: GrpcPeers) -> None:
    async with listening(Recorder()) as address:
        assert await peers.blank(address, 5) is None


async def test_peer_that_comes_back_is_reached_at_once(peers: GrpcPeers) -> None:
    async with listening(Recorder(Check=serving)) as address:
        assert await peers.check(address, 5) is PeerHealth.SERVING
    assert await peers.check(address, 5) is PeerHealth.REFUSED
    server = grpc.aio.server(handlers=[Recorder(Check=serving)])
    server.add_insecure_port(address)
    await server.start()
    assert await peers.check(address, 5) is PeerHealth.SERVING
    await server.stop(None)


@contextmanager
def mute() -> Iterator[str]:
    """A port whose connections nobody takes."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        host, port = taken.getsockname()
        yield f"{host}:{port}"


@asynccontextmanager
async def speaking(words: bytes) -> AsyncIterator[str]:
    """A port that answers the first bytes with something that is not gRPC."""
    async with asyncio.TaskGroup() as group:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            taken.setblocking(False)
            host, port = taken.getsockname()
            task = group.create_task(_answer(taken, words))
            yield f"{host}:{port}"
            task.cancel()


async def _answer(taken: socket.socket, words: bytes) -> None:
    loop = asyncio.get_running_loop()
    while True:
        line, _ = await loop.sock_accept(taken)
        with line:
            await loop.sock_recv(line, 1)
            await loop.sock_sendall(line, words)
