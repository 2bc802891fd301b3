"""Ports that are forwarded to a device."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import patience
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import DeviceError
from quintant.agents.deviceshifu.drivers.tcp import TcpDriver, listen_port
from quintant.agents.dns.host_resolver import HostResolver
from quintant.wire.shifu import device_address
from testbeds.devices import until

pytestmark = pytest.mark.realtime


async def answer_at_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A device that speaks only when its caller is done."""
    said = await reader.read(-1)
    writer.write(said[::-1])
    writer.close()


def driver(port: int) -> TcpDriver:
    place = device_address(f"127.0.0.1:{port}")
    return TcpDriver(DeviceDialer(HostResolver({})), place, "127.0.0.1", 0)


async def test_h8_bytes_go_both_ways_and_a_half_close_is_passed_on() -> None:
    server = await asyncio.start_server(answer_at_the_end, "127.0.0.1", 0)
    made = driver(server.sockets[0].getsockname()[1])
    work = asyncio.ensure_future(made.run())
    await until(lambda: made.bound > 0)
    await made.check(5)
    reader, writer = await asyncio.open_connection("127.0.0.1", made.bound)
    writer.write(b"abc" * 100_000)
    writer.write_eof()
    async with patience.within(20):
        assert await reader.read() == b"cba" * 100_000
    writer.close()
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    server.close()


async def test_a_caller_of_a_device_that_is_away_is_hung_up_on() -> None:
    made = driver(1)
    work = asyncio.ensure_future(made.run())
    await until(lambda: made.bound > 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", made.bound)
    async with patience.within(20):
        assert await reader.read() == b""
    writer.close()
    with pytest.raises(DeviceError):
        await made.check(5)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)


@pytest.mark.parametrize(
    ("text", "port"),
    [("9000", 9000), ("8080", 8081), ("x", 8081), ("0", 8081), ("99999", 8081), (None, 8081)],
)
def test_nonsense_means_the_usual_port(text: str | None, port: int, tmp_path: Path) -> None:
    assert listen_port({"ListenPort": text}) == port
