"""A device of any protocol that lies by seed: to an agent without a network, in virtual time.

device = LyingDevice("Modbus")
device.seed = 7          # from now on, what it answers is lie 7 about the truth
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from struct import pack
from typing import Any, TypeVar

from asyncua import Server, ua
from asyncua.server.binary_server_asyncio import BinaryServer

from quintant.agents.broker.broker import Broker
from quintant.agents.broker.packets import Publication
from quintant.agents.devices.socket_echo import echo
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.dns.host_resolver import HostResolver
from quintant.wire.shifu import DeviceAddress
from testbeds.liars import Manner, lie
from testbeds.memory_wire import WireEnd, connect, streams

P = TypeVar("P", bound=asyncio.Protocol)
VALUE = b'{"value": 21.5}'
REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
SLOW_SECONDS = 4.0
SLOW_PIECES = 3
MakeProtocol = Callable[[], Any]


class LyingEnd(WireEnd):
    """The device's end: with a seed, what it sends is a lie about what it should."""

    def __init__(self, protocol: Any, device: LyingDevice) -> None:
        super().__init__(protocol)
        self._device = device

    def write(self, data: bytes | bytearray | memoryview) -> None:
        seed = self._device.seed
        if seed is None:
            super().write(data)
            return
        self._device.lies += 1
        told = lie(seed, VALUE if self._device.protocol == "HTTP" else bytes(data))
        whole = told.message if self._device.protocol == "HTTP" else told.head + told.body
        self._deliver(told.manner, whole)

    def _deliver(self, manner: Manner, whole: bytes) -> None:
        half = len(whole) // 2
        match manner:
            case Manner.WHOLE:
                super().write(whole)
            case Manner.SLOW:
                size = len(whole) // SLOW_PIECES + 1
                for at in range(SLOW_PIECES):
                    piece = whole[at * size : (at + 1) * size]
                    self._loop.call_later(SLOW_SECONDS * at, super().write, piece)
            case Manner.HALF_CLOSED:
                super().write(whole[:half])
                self.write_eof()
            case Manner.RESET:
                super().write(whole[:half])
                self.abort()


class LyingDevice(DeviceDialer):
    """A device, and the way to it."""

    def __init__(self, protocol: str, make: MakeProtocol) -> None:
        super().__init__(HostResolver({}))
        self.protocol, self._make = protocol, make
        self.seed: int | None = None
        self.lies = 0

    async def connect(self, make: Callable[[], P], address: DeviceAddress) -> P:
        return connect(make, self._accepted())

    async def streams(
        self, address: DeviceAddress
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return streams(self._accepted())

    def _accepted(self) -> LyingEnd:
        return LyingEnd(self._make(), self)


class HttpTruth(asyncio.Protocol):
    """Answers every request with the same value."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(REPLY % len(VALUE) + VALUE)  # type: ignore[attr-defined]


class ModbusTruth(HttpTruth):
    """Has the same number in every register."""

    def data_received(self, data: bytes) -> None:
        number, unit, function, count = data[:2], data[6], data[7], data[11]
        body = pack(">BBB", unit, function, 2 * count) + pack(">H", 215) * count
        answer = number + pack(">HH", 0, len(body)) + body
        self._transport.write(answer)  # type: ignore[attr-defined]


def _streamed(serve: Callable[..., Any]) -> MakeProtocol:
    return lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(), serve)


@asynccontextmanager
async def lying_device(protocol: str) -> AsyncIterator[LyingDevice]:
    """A device that begins with the truth."""
    match protocol:
        case "HTTP":
            yield LyingDevice(protocol, HttpTruth)
        case "Modbus":
            yield LyingDevice(protocol, ModbusTruth)
        case "Socket":
            yield LyingDevice(protocol, _streamed(echo))
        case "MQTT":
            async with _talking(Broker()) as broker:
                yield LyingDevice(protocol, _streamed(broker.serve))
        case "OPCUA":
            yield LyingDevice(protocol, await _opcua())


@asynccontextmanager
async def _talking(broker: Broker) -> AsyncIterator[Broker]:
    """A broker with a device that tells its value every second."""

    async def talk() -> None:
        while True:
            broker.publish(Publication("t", VALUE))
            await asyncio.sleep(1)

    task = asyncio.ensure_future(talk())
    try:
        yield broker
    finally:
        task.cancel()
        broker.close()


async def _opcua() -> MakeProtocol:
    server = Server()
    await server.init()
    server.set_endpoint("opc.tcp://127.0.0.1:4840/")
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    space = await server.register_namespace("x")
    await server.nodes.objects.add_variable(ua.NodeId(2, space), "x", 21.5)
    await server._setup_server_nodes()
    listening = BinaryServer(server.iserver, "127.0.0.1", 4840, server.limits)
    listening.set_policies(server._policies)
    made: MakeProtocol = listening._make_protocol
    return made
