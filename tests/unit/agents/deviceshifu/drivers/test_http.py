"""Devices that speak HTTP, well or badly, through the facade."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import patience
from quintant.http.request import Request
from quintant.http.response import Response, StreamingResponse
from quintant.http.server import serving
from testbeds.devices import Bench, bench, edge_device, raw_device, until

pytestmark = pytest.mark.realtime
CONFIG = {"instructions": "instructions:\n  on:\n  move/up:\n  slow:\n  stream:\n  half:\n"}
MIB = 1024 * 1024


class WebDevice:
    """A device that shows what it was asked."""

    def __init__(self, deaf: Collection[str] = ()) -> None:
        self.deaf = deaf
        """Methods that it never answers."""
        self.requests: list[Request] = []
        self.pings: list[Request] = []
        """Whether it is there: asked by the agent itself."""
        self.left = 0
        """How many replies were given up in the middle."""

    async def handle(self, request: Request) -> Response | StreamingResponse:
        if request.method in ("OPTIONS", "HEAD"):
            self.pings.append(request)
        if request.method in self.deaf:
            await asyncio.Event().wait()
        if request.method in ("OPTIONS", "HEAD"):
            return Response(501, {})
        self.requests.append(request)
        if request.path == "/slow":
            await asyncio.Event().wait()
        if request.path == "/stream":
            return StreamingResponse(self.frames(), headers={"content-type": "image/jpeg"})
        if request.path == "/half":
            return StreamingResponse(self.half(), size=10, on_close=self.leave)
        body = await request.body(MIB)
        said = {"method": request.method, "target": request.target, "body": body.decode()}
        return Response(201, {"x-device": "yes"}, json.dumps(said).encode())

    async def frames(self) -> AsyncGenerator[bytes, None]:
        for _ in range(100):
            yield b"frame" * 1000

    async def half(self) -> AsyncGenerator[bytes, None]:
        yield b"short"
        await asyncio.Event().wait()

    def leave(self) -> None:
        self.left += 1


@asynccontextmanager
async def web(folder: Path) -> AsyncIterator[tuple[Bench, WebDevice]]:
    device = WebDevice()
    async with (
        serving(device.handle, "127.0.0.1", 0) as (host, port),
        bench(folder, edge_device("HTTP", f"{host}:{port}"), CONFIG) as made,
    ):
        yield made, device


async def test_an_instruction_is_passed_on_and_its_reply_back(tmp_path: Path) -> None:
    async with web(tmp_path) as (made, _):
        status, headers, body = await made.ask("/move/up?a=%26b&timeout=5", "PUT", b"hello")
        assert (status, headers["x-device"]) == (201, "yes")
        said = json.loads(body)
        assert said == {"method": "PUT", "target": "/move/up?a=%26b&timeout=5", "body": "hello"}


async def test_a_device_that_refuses_what_it_was_asked_has_answered(tmp_path: Path) -> None:
    async with web(tmp_path) as (made, device):
        await until(lambda: made.cluster.phases == ["Running"])
        assert [each.target for each in device.pings[:1]] == ["*"]
        assert not any(each.field(b"authorization") for each in device.pings)
        assert device.requests == []


def only_answers(*methods: bytes, otherwise: bytes = b"") -> Callable[[bytes], bytes]:
    """A small device that knows a few methods; at others it hangs up, or says something."""
    said = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    return lambda asked: said if asked.split(b" ")[0] in methods else otherwise


@pytest.mark.parametrize("methods", [(b"HEAD", b"GET"), (b"GET",)])
@pytest.mark.parametrize("otherwise", [b"", b"ERR unknown method\r\n\r\n", b"HTTP/1.1 2"])
async def test_a_device_that_answers_no_other_question_than_a_plain_one_is_reachable(
    tmp_path: Path, methods: tuple[bytes, ...], otherwise: bytes
) -> None:
    async with (
        raw_device(only_answers(*methods, otherwise=otherwise)) as device,
        bench(tmp_path, edge_device("HTTP", device.address), CONFIG) as made,
    ):
        await until(lambda: bool(made.cluster.phases))
        assert made.cluster.phases == ["Running"]
        before = len(device.asked)
        await until(lambda: len(device.asked) > before)
        assert device.asked[-1].startswith(methods[0] + b" / HTTP/1.1\r\n")
        assert made.cluster.phases == ["Running"]


async def test_a_device_that_says_nothing_to_a_question_is_asked_another(tmp_path: Path) -> None:
    device = WebDevice(deaf=("OPTIONS", "HEAD"))
    settings = "telemetrySettings:\n  telemetryTimeoutInMilliseconds: 500\n"
    config = {**CONFIG, "telemetries": settings}
    async with (
        serving(device.handle, "127.0.0.1", 0) as (host, port),
        bench(tmp_path, edge_device("HTTP", f"{host}:{port}"), config) as made,
    ):
        await until(lambda: made.cluster.phases[-1:] == ["Running"])
        assert [each.method for each in device.pings[:2]] == ["OPTIONS", "HEAD"]


async def test_h14_an_instruction_named_on_answers_at_on(tmp_path: Path) -> None:
    async with web(tmp_path) as (made, _):
        assert (await made.ask("/on"))[0] == 201


async def test_h1_h3_refusals_have_upstreams_words(tmp_path: Path) -> None:
    async with web(tmp_path) as (made, device):
        assert await made.text("/health") == (200, "Device is healthy")
        assert await made.text("/nope") == (404, "Error: Device instruction does not exist!\n")
        assert await made.text("/../on") == (404, "Error: Device instruction does not exist!\n")
        assert await made.text("/on", "DELETE") == (400, "not supported yet\n")
        said = 'strconv.ParseInt: parsing "abc": invalid syntax\n'
        assert await made.text("/on?timeout=abc") == (400, said)
        assert device.requests == []


async def test_h3_a_device_slower_than_its_timeout_is_503(tmp_path: Path) -> None:
    async with web(tmp_path) as (made, _), patience.within(10):
        assert (await made.ask("/slow?timeout=1"))[0] == 503


async def test_a_caller_that_leaves_ends_its_request_at_the_device(tmp_path: Path) -> None:
    async with web(tmp_path) as (made, device):
        _, writer = await asyncio.open_connection("127.0.0.1", made.port)
        writer.write(b"GET /half?timeout=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until(lambda: bool(device.requests))
        assert not device.left
        writer.close()
        await until(lambda: device.left == 1)


async def test_a_device_gets_the_callers_authorization_and_no_other(tmp_path: Path) -> None:
    async with web(tmp_path) as (made, device):
        await made.ask("/on")
        await made.ask("/on", authorization="Bearer mine", connection="close, x-hop", x_hop="1")
        first, second = device.requests
        assert first.field(b"authorization") == ""
        assert second.field(b"authorization") == "Bearer mine"
        assert second.field(b"x-hop") == ""


async def test_a_reply_that_goes_on_is_streamed(tmp_path: Path) -> None:
    async with web(tmp_path) as (made, _):
        status, headers, body = await made.ask("/stream?timeout=0")
        assert (status, headers["content-type"]) == (200, "image/jpeg")
        assert body == b"frame" * 100_000


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (b"garbage\r\n\r\n", 502),
        (b"\x00\xff" * 100, 502),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 502),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", 502),
        (b"HTTP/1.1 200 OK\r\nA: " + b"x" * 100_000 + b"\r\n\r\n", 502),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n__import__('os", 200),
    ],
)
async def test_nonsense_of_a_device_is_502_and_the_agent_goes_on(
    tmp_path: Path, reply: bytes, status: int
) -> None:
    async with (
        raw_device(reply) as device,
        bench(tmp_path, edge_device("HTTP", device.address), CONFIG) as made,
    ):
        found, _, body = await made.ask("/on")
        assert found == status
        assert len(body) < 400
        assert b"\x00" not in body
        assert await made.text("/health") == (200, "Device is healthy")


async def test_a_hundred_megabytes_are_never_held(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (100 * MIB)
    async with (
        raw_device(head, endless=b"z" * MIB) as device,
        bench(tmp_path, edge_device("HTTP", device.address), CONFIG) as made,
    ):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        reader, writer = await asyncio.open_connection("127.0.0.1", made.port)
        writer.write(b"GET /on?timeout=0 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        size = 0
        while piece := await reader.read(MIB):
            size += len(piece)
        writer.close()
        assert size > 100 * MIB
        # The kernel's figure is in KiB, and this process is the device and the caller, too.
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40 * 1024


async def test_h2_a_device_that_is_not_there_is_503(tmp_path: Path) -> None:
    async with raw_device(b"x") as device:
        address = device.address
    async with bench(tmp_path, edge_device("HTTP", address), CONFIG) as made:
        status, said = await made.text("/on")
        assert status == 503
        assert "cannot be reached" in said


@pytest.mark.parametrize(
    ("protocol", "address", "said"),
    [
        ("NATS", "h:1", "protocol NATS is not served"),
        ("HTTP", "", "no host in the address"),
        ("HTTP", "host:port", "no port in the address"),
    ],
)
async def test_a_device_without_a_driver_says_why(
    tmp_path: Path, protocol: str, address: str, said: str
) -> None:
    async with bench(tmp_path, edge_device(protocol, address), CONFIG) as made:
        status, text = await made.text("/on")
        assert (status, text) == (
            503,
            f"device not connected: {said}" + text[text.find(said) + len(said) :],
        )
