"""An OPC UA server of another make, through the facade."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

import patience
from foreign.process import free_ports
from quintant.agents.devices.opcua import PATH, serve
from testbeds.devices import Bench, bench, edge_device, until
from unit.agents.deviceshifu.drivers.simulated_device import simulated

pytestmark = pytest.mark.realtime
CONFIG = {
    "instructions": """
instructions:
  get_value: {protocolPropertyList: {OPCUANodeID: "ns=2;i=2"}}
  writable_value: {protocolPropertyList: {OPCUANodeID: "ns=2;i=3"}}
  get_time: {protocolPropertyList: {OPCUANodeID: "i=2258"}}
  get_server: {protocolPropertyList: {OPCUANodeID: "i=2261"}}
  nowhere: {protocolPropertyList: {OPCUANodeID: "ns=2;i=999"}}
  broken: {protocolPropertyList: {OPCUANodeID: "x=;"}}
""",
    "telemetries": """
telemetrySettings:
  {telemetryUpdateIntervalInMilliseconds: 200, telemetryInitialDelayInMilliseconds: 0}
telemetries:
  server: {properties: {instruction: get_server}}
""",
}


UNSEEN = {
    **CONFIG,
    "telemetries": """
telemetrySettings: {telemetryInitialDelayInMilliseconds: 3600000}
telemetries:
  server: {properties: {instruction: get_server}}
""",
}
"""Of a device that is looked at in an hour."""


@asynccontextmanager
async def agent(
    folder: Path, port: int, config: Mapping[str, str] = CONFIG
) -> AsyncIterator[Bench]:
    """An agent that gives its device the time that this machine needs."""
    settings = {"ConnectionTimeoutInMilliseconds": round(patience.seconds(5) * 1000)}
    device = edge_device(
        "OPCUA", f"opc.tcp://127.0.0.1:{port}{PATH}", protocolSettings={"OPCUASetting": settings}
    )
    async with bench(folder, device, config) as made:
        yield made


async def test_h6_nodes_are_read_and_written_and_a_reboot_is_survived(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    async with agent(tmp_path, port) as made:
        async with simulated(serve, port):
            await until(lambda: made.cluster.phases[-1:] == ["Running"])
            status, said = await made.text("/get_value")
            assert status == 200
            assert 6.5 < float(said) < 60
            assert (await made.text("/get_server"))[1] != ""
            assert (await made.text("/get_time"))[1].endswith(" +0000 UTC")
            assert await made.text("/writable_value", "PUT", b'{"value": 54188}') == (200, "")
            assert await made.text("/writable_value") == (200, "54188")
            told = json.loads((await made.text("/writable_value?format=json"))[1])
            assert (told["value"], told["type"], told["status"]) == (54188, "Int64", "Good")

            refused = "wrong type of value, value's type should be int64\n"
            for bad in (b'{"value": "x"}', b'{"value": true}', b'{"value": 1.5}'):
                assert await made.text("/writable_value", "PUT", bad) == (400, refused)
            assert (await made.text("/writable_value", "PUT", b"nonsense"))[0] == 400
            assert (await made.text("/get_value", "PUT", b'{"value": 1}'))[0] == 400
            assert (await made.text("/nowhere"))[0] == 400
            assert (await made.text("/broken"))[1].startswith("Failed to parse NodeID, error: ")
            assert await made.text("/get_value", "DELETE") == (405, "Method Not Allowed\n")
        await until(lambda: made.cluster.phases[-1] == "Failed")
        assert (await made.text("/get_value"))[0] == 503
        async with simulated(serve, port):
            await until(lambda: made.cluster.phases[-1] == "Running")
            assert (await made.text("/get_value"))[0] == 200


@asynccontextmanager
async def listening(port: int) -> AsyncIterator[None]:
    """The device, once it can be reached."""
    async with simulated(serve, port), patience.within(20):
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                break
            await asyncio.sleep(0.01)
        yield


async def test_a_reboot_that_nobody_saw_costs_the_next_caller_nothing(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    async with agent(tmp_path, port, UNSEEN) as made:
        async with listening(port):
            assert (await made.text("/get_value"))[0] == 200
        async with listening(port):
            assert (await made.text("/get_value"))[0] == 200
        async with listening(port):
            assert await made.text("/writable_value", "PUT", b'{"value": 7}') == (200, "")
        assert (await made.text("/get_value"))[0] == 503
