"""Devices that lie cost one instruction: it is refused with a reason, and the agent goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import patience
from testbeds.devices import Bench, RawDevice, Reply, bench, edge_device, raw_device, until

pytestmark = pytest.mark.realtime
OK = b"HTTP/1.1 200 OK\r\n"
READ = (
    "telemetrySettings:\n"
    "  {telemetryUpdateIntervalInMilliseconds: 50, telemetryInitialDelayInMilliseconds: 0}\n"
    "telemetries: {x: {properties: {instruction: x}}}\n"
)


@contextmanager
def nothing_unhandled() -> Iterator[None]:
    """Whatever a device sends, nobody but its driver hears of it."""
    loop, unhandled = asyncio.get_running_loop(), list[dict[str, Any]]()
    loop.set_exception_handler(lambda _, context: unhandled.append(context))
    try:
        yield
    finally:
        loop.set_exception_handler(None)
    assert unhandled == []


@asynccontextmanager
async def lied_to(
    folder: Path, protocol: str, reply: Reply, properties: str = "{}", endless: bytes = b""
) -> AsyncIterator[tuple[Bench, RawDevice]]:
    """An agent whose device answers everything with these bytes, and then hangs up."""
    told = {"instructions": f"instructions: {{x: {{protocolPropertyList: {properties}}}}}\n"}
    with nothing_unhandled():
        async with (
            raw_device(reply, endless=endless) as device,
            bench(folder, edge_device(protocol, device.address), told | {"telemetries": READ}) as b,
        ):
            yield b, device
            assert await b.text("/health") == (200, "Device is healthy")


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 999 Perhaps\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 600 Never\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 1e2 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 -20 OK\r\nContent-Length: 0\r\n\r\n",
        OK + b"Content-Length: NaN\r\n\r\nx",
        OK + b"Content-Length: 9223372036854775808\r\n\r\nx",
        OK + b"Content-Length: -1\r\n\r\nx",
        OK + b"Transfer-Encoding: chunked\r\n\r\nNaN\r\nx\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n8000000000000000\r\nx",
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nno trailer\r\n\r\n",
        OK + b"Transfer-Encoding: gzip\r\n\r\nx",
        OK + b"Content-Length: 9\r\n\r\nhalf",
    ],
)  # fmt: skip
async def test_a_reply_that_is_none_is_502_with_a_reason(tmp_path: Path, reply: bytes) -> None:
    async with lied_to(tmp_path, "HTTP", reply) as (agent, _):
        status, text = await agent.text("/x")
        assert status == 502, text
        assert 20 < len(text) < 300
        await until(lambda: agent.cluster.phases == ["Failed"])


@pytest.mark.parametrize("reply", [b"5\r\nab", b"2\r\nab\r\n", b"2\r\nab\r\nzz\r\n"])
async def test_a_streamed_reply_that_breaks_off_has_no_end(tmp_path: Path, reply: bytes) -> None:
    begun = OK + b"Transfer-Encoding: chunked\r\n\r\n" + reply
    async with lied_to(tmp_path, "HTTP", begun) as (agent, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", agent.port)
        writer.write(b"GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        said = await reader.read()
        writer.close()
        assert b" 502 " in said or b"0\r\n\r\n" not in said
        await until(lambda: agent.cluster.phases == ["Failed"])


async def test_headers_without_end_are_502(tmp_path: Path) -> None:
    async with lied_to(tmp_path, "HTTP", OK, endless=b"A: b\r\n" * 1000) as (agent, _):
        assert (await agent.text("/x"))[0] == 502


async def test_a_reply_without_a_body_has_none_whatever_its_length(tmp_path: Path) -> None:
    reply = b"HTTP/1.1 204 No Content\r\nContent-Length: 99999999999999999\r\n\r\n"
    async with lied_to(tmp_path, "HTTP", reply) as (agent, _):
        status, headers, body = await agent.ask("/x")
        assert (status, headers.get("content-length"), body) == (204, None, b"")


@dataclass(frozen=True)
class _Frame:
    """A Modbus answer with the number of its request, `off` by some; the last bytes may be cut."""

    pdu: str
    off: int = 0
    protocol: int = 0
    length: int | None = None
    cut: int = 0

    def __call__(self, request: bytes) -> bytes:
        body = b"\x01" + bytes.fromhex(self.pdu)
        number = int.from_bytes(request[:2], "big") + self.off
        size = len(body) if self.length is None else self.length
        fields = (number, self.protocol, size)
        whole = b"".join(each.to_bytes(2, "big") for each in fields) + body
        return whole[: len(whole) - self.cut]


@pytest.mark.parametrize(
    "reply",
    [
        _Frame("0300"),
        _Frame("0302"),
        _Frame("03020007"),
        _Frame("030600070008"),
        _Frame("0304000700080009"),
        _Frame("0305000700080009"),
        _Frame("010101"),
        _Frame("06000000070008"),
        _Frame("7f00"),
        _Frame("83"),
        _Frame("030400070008", off=1),
        _Frame("030400070008", protocol=7),
        _Frame("030400070008", length=65_535),
        _Frame("030400070008", length=0),
        _Frame("030400070008", cut=1),
        b"\xff" * 300,
    ],
)
async def test_registers_that_are_not_those_asked_for_are_502(tmp_path: Path, reply: Reply) -> None:
    two = "{ModbusAddress: 0, ModbusCount: 2}"
    async with lied_to(tmp_path, "Modbus", reply, two) as (agent, _), patience.within(20):
        status, text = await agent.text("/x")
        assert status == 502, text
        await until(lambda: agent.cluster.phases == ["Failed"])


@pytest.mark.parametrize(
    "reply",
    [
        b"\x20\x02\x00\x05",
        b"\x20\x02\x00",
        b"\x20\x01\x00",
        b"\x20\xff\xff\xff\xff\xff",
        b"\x20\x02\x00\x00\x90\x00",
        b"\x20\x02\x00\x00\x30\x00",
        b"\x20\x02\x00\x00\x32\x03\x00\x05a",
        b"\x20\x02\x00\x00\x30\x04\x00\x02\xff\xfe",
        b"\x20\x02\x00\x00\x36\x05\x00\x01t\x00\x01",
        b"\x20\x02\x00\x00\x30\xff\xff\xff\x7f" + b"x" * 100,
        b"\x20\x02\x00\x00\x40\x00",
        b"\x20\x02\x00\x00\x10\x02\x00\x00",
        b"\xff" * 100,
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
    ],
)
async def test_a_broker_that_speaks_nonsense_is_no_session(tmp_path: Path, reply: bytes) -> None:
    topic = "{MQTTTopic: t}"
    async with lied_to(tmp_path, "MQTT", reply, topic) as (agent, device), patience.within(30):
        await until(lambda: len(device.asked) > 1)  # it is tried again
        assert (await agent.text("/x", "PUT", b"1"))[0] in (502, 503, 504)
        await until(lambda: agent.cluster.phases[-1:] == ["Failed"])


@pytest.mark.parametrize(
    "reply",
    [
        b"ACKF\x08\x00\x00\x00",
        b"ACKF\x04\x00\x00\x00",
        b"ACKF\xff\xff\xff\xff" + b"x" * 1000,
        b"ACKF\x1c\x00\x00\x00" + b"\xff" * 20,
        b"ERRF\x10\x00\x00\x00\x00\x00\x01\x80\xfe\xff\xff\xff",
        b"OPNF\x0c\x00\x00\x00\x00\x00\x00\x00",
        b"XXXX" * 10,
        b"\x00" * 100,
    ],
)
async def test_an_opcua_server_that_speaks_nonsense_is_no_session(
    tmp_path: Path, reply: bytes
) -> None:
    node = '{OPCUANodeID: "ns=2;i=2"}'
    async with lied_to(tmp_path, "OPCUA", reply, node) as (agent, _), patience.within(30):
        status, text = await agent.text("/x")
        assert (status in (502, 503), text != "") == (True, True)
        await until(lambda: agent.cluster.phases == ["Failed"])


async def test_what_a_device_sent_before_a_command_is_no_reply_to_it(tmp_path: Path) -> None:
    async def talkative(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while said := await reader.read(100):
            writer.write(said.ljust(6, b"."))
        writer.close()

    server = await asyncio.start_server(talkative, "127.0.0.1", 0)
    address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    settings = {"protocolSettings": {"SocketSetting": {"bufferLength": 3}}}
    device = edge_device("Socket", address, **settings)
    try:
        async with bench(tmp_path, device, {"instructions": "instructions: {x: }\n"}) as agent:
            for command in ("one", "two"):
                body = json.dumps({"command": command}).encode()
                _, _, said = await agent.ask("/x", "POST", body, content_type="application/json")
                assert json.loads(said)["message"] == command
    finally:
        server.close()
