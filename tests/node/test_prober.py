"""Probes over real sockets, with the words of a kubelet."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health as service
from grpc_health.v1 import health_pb2, health_pb2_grpc

from quintant.api.container import GRPCAction, HTTPGetAction, HTTPHeader, TCPSocketAction
from quintant.cluster.kubelet.probe.network import NetworkProber

HOST = "127.0.0.1"


@asynccontextmanager
async def answering(answer: bytes, *, seen: list[bytes] | None = None) -> AsyncIterator[int]:
    """A port whose server says this to its one visitor; without an answer it says nothing."""
    over = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n\r\n")
            if seen is not None:
                seen.append(request)
            writer.write(answer)
            if not answer:
                await reader.read()
        writer.close()
        await writer.wait_closed()
        over.set()

    server = await asyncio.start_server(talk, HOST, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
        # A loop must not end while somebody is half let in.
        await over.wait()


@pytest.mark.parametrize("code", [200, 204, 302, 399])
async def test_answers_below_400_are_good(code: int) -> None:
    async with answering(b"HTTP/1.1 %d x\r\n\r\n" % code) as port:
        outcome = await NetworkProber().http(HOST, port, HTTPGetAction(port=port, path="/"), 5)
    assert outcome.passed


async def test_another_answer_is_bad_and_told() -> None:
    async with answering(b"HTTP/1.1 503 x\r\n\r\n") as port:
        outcome = await NetworkProber().http(HOST, port, HTTPGetAction(port=port, path="/"), 5)
    assert outcome.message == "HTTP probe failed with statuscode: 503"


async def test_headers_of_the_probe_are_sent() -> None:
    seen: list[bytes] = []
    get = HTTPGetAction(port=1, path="live", http_headers=(HTTPHeader(name="X-A", value="b"),))
    async with answering(b"HTTP/1.1 200 x\r\n\r\n", seen=seen) as port:
        await NetworkProber().http(HOST, port, get, 5)
    assert seen[0].startswith(b"GET /live HTTP/1.1\r\n")
    assert b"X-A: b\r\n" in seen[0]
    assert b"User-Agent: kube-probe/1." in seen[0]


async def test_silence_is_bad_after_the_timeout() -> None:
    async with answering(b"") as port:
        outcome = await NetworkProber().http(HOST, port, HTTPGetAction(port=port, path="/"), 0.05)
    assert outcome.message.endswith("(Client.Timeout exceeded while awaiting headers)")


async def test_a_closed_port_refuses() -> None:
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    refused = f"dial tcp {HOST}:{port}: connect: connection refused"
    http = await NetworkProber().http(HOST, port, HTTPGetAction(port=port, path="/x"), 5)
    assert http.message == f'Get "http://{HOST}:{port}/x": {refused}'
    assert (await NetworkProber().tcp(HOST, port, TCPSocketAction(port=port), 5)).message == refused


async def test_an_open_port_is_all_that_tcp_asks_for() -> None:
    async with answering(b"") as port:
        assert (await NetworkProber().tcp(HOST, port, TCPSocketAction(port=port), 5)).passed


@asynccontextmanager
async def health(**statuses: int) -> AsyncIterator[int]:
    """A gRPC server with the health service."""
    server, servicer = grpc.aio.server(), service.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    port = server.add_insecure_port(f"{HOST}:0")
    await server.start()
    for name, status in statuses.items():
        await servicer.set(name.replace("_", ""), status)
    try:
        yield port
    finally:
        await server.stop(None)


SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def test_a_serving_grpc_server_is_healthy() -> None:
    async with health(_=SERVING, db=NOT_SERVING) as port:
        prober = NetworkProber()
        assert (await prober.grpc(HOST, port, GRPCAction(port=port), 5)).passed
        outcome = await prober.grpc(HOST, port, GRPCAction(port=port, service="db"), 5)
    assert outcome.message == 'service unhealthy (responded with "NOT_SERVING")'


async def test_an_unknown_grpc_service_is_not_healthy() -> None:
    async with health(_=SERVING) as port:
        outcome = await NetworkProber().grpc(HOST, port, GRPCAction(port=port, service="x"), 5)
    assert not outcome.passed


async def test_a_server_that_speaks_no_grpc_is_not_healthy(tmp_path: Path) -> None:
    async with answering(b"HTTP/1.1 200 x\r\n\r\n") as port:
        outcome = await NetworkProber().grpc(HOST, port, GRPCAction(port=port), 1)
    assert outcome.message.startswith(f'timeout: failed to connect service "{HOST}:{port}"')
