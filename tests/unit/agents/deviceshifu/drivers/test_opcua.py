"""An OPC UA server of another make, through the facade."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

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


@asynccontextmanager
async def agent(folder: Path, port: int) -> AsyncIterator[Bench]:
    device = edge_device("OPCUA", f"opc.tcp://127.0.0.1:{port}{PATH}")
    async with bench(folder, device, CONFIG) as made:
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
