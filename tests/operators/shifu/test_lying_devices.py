"""Devices of every protocol that lie by seed: their agent goes on, and believes the truth again.

The agent is the real one, its time is virtual; its device answers lies, one seed after another.
QUINTANT_SOAK=1 tries 5,000 of them. What they cost one by one is in tests/security.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quintant.agents.deviceshifu.facade import Facade
from quintant.agents.deviceshifu.options import AgentOptions
from quintant.agents.deviceshifu.shifu import DeviceShifu
from quintant.http.connection import Connection
from quintant.http.request import RequestLimits
from quintant.http.server import Server
from testbeds.devices import ModelledCluster, edge_device
from testbeds.lying_device import LyingDevice, lying_device
from testbeds.memory_wire import WireEnd, streams

SEEDS = 1_000 if os.environ.get("QUINTANT_SOAK") else 40
"""Of each of the five protocols."""
PROTOCOLS = ("HTTP", "MQTT", "Modbus", "OPCUA", "Socket")
SEED_SECONDS = 15.0
"""Of virtual time, for each lie: forty make ten minutes."""
TRUE_SECONDS = 60
MOST_BYTES = 16 * 1024 * 1024
MOST_STATUSES = 4
"""In the life of a lie: how a device is can change as often as it answers, and no more."""
PROPERTIES = {
    "Modbus": "{ModbusAddress: 0, ModbusScale: 0.1}",
    "OPCUA": '{OPCUANodeID: "ns=2;i=2"}',
    "MQTT": "{MQTTTopic: t}",
}
READ = (
    "telemetrySettings: {telemetryUpdateIntervalInMilliseconds: 3000}\n"
    "telemetries: {x: {properties: {instruction: x}}}\n"
)


class Agent:
    """A deviceShifu, its device, and its caller."""

    def __init__(self, folder: Path, device: LyingDevice) -> None:
        told = PROPERTIES.get(device.protocol, "{}")
        (folder / "instructions").write_text(
            f"instructions: {{x: {{protocolPropertyList: {told}}}}}\n"
        )
        (folder / "telemetries").write_text(READ)
        self.cluster = ModelledCluster(edge_device(device.protocol, "127.0.0.1:9"))
        options = AgentOptions("bench", node="n1", config=folder)
        now = datetime(2026, 1, 1, tzinfo=UTC)
        self.device = device
        self.shifu = DeviceShifu(options, self.cluster, device, lambda: now)
        self._server = Server(Facade(self.shifu).handle, RequestLimits())

    async def call(self, path: str = "/x?timeout=5") -> tuple[int, bytes]:
        """Status and body of an answer."""
        body = json.dumps({"command": "hello", "timeout": 5}).encode()
        fields = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        post = self.device.protocol == "Socket" and path != "/health"
        head = f"POST {path} HTTP/1.1\r\n{fields}" if post else f"GET {path} HTTP/1.1\r\n"
        reader, writer = streams(WireEnd(Connection(self._server.arrive)))
        writer.write(f"{head}host: localhost\r\nconnection: close\r\n\r\n".encode())
        writer.write(body if post else b"")
        async with asyncio.timeout(SEED_SECONDS * 2):
            said = await reader.read()
        writer.close()
        first, _, rest = said.partition(b"\r\n\r\n")
        return int(first.split()[1]), rest.partition(b'"mqtt_receive_timestamp"')[0]

    @property
    def phase(self) -> str:
        return self.cluster.phases[-1] if self.cluster.phases else ""


@asynccontextmanager
async def served(folder: Path, protocol: str) -> AsyncIterator[Agent]:
    """An agent at work, which ends with nothing unhandled."""
    unhandled = list[object]()
    asyncio.get_running_loop().set_exception_handler(lambda _, each: unhandled.append(each))
    async with lying_device(protocol) as device:
        agent = Agent(folder, device)
        work = asyncio.ensure_future(agent.shifu.run())
        await asyncio.sleep(TRUE_SECONDS)
        try:
            yield agent
        finally:
            ended = work.done()
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        assert not ended
    assert unhandled == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_an_agent_outlives_liars_of_every_protocol(tmp_path: Path, protocol: str) -> None:
    async with served(tmp_path, protocol) as agent:
        status, truth = await agent.call()
        assert (status, agent.phase) == (200, "Running")
        tracemalloc.start()
        for agent.device.seed in range(SEEDS):
            before = len(agent.cluster.statuses)
            status, _ = await agent.call()
            assert 200 <= status < 600
            assert await agent.call("/health") == (200, b"Device is healthy")
            await asyncio.sleep(SEED_SECONDS)
            assert len(agent.cluster.statuses) - before <= MOST_STATUSES
            assert all(len(json.dumps(each)) < 2_000 for each in agent.cluster.statuses[before:])
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert held < MOST_BYTES
        assert agent.device.lies >= SEEDS / 2

        agent.device.seed = None
        await asyncio.sleep(TRUE_SECONDS)
        assert await agent.call() == (200, truth)
        assert agent.phase == "Running"
