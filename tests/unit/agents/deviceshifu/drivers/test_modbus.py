"""A Modbus/TCP device of another make, through the facade."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from foreign.process import free_ports
from quintant.agents.devices.modbus import serve
from testbeds.devices import Bench, bench, edge_device, until
from unit.agents.deviceshifu.drivers.simulated_device import simulated

pytestmark = pytest.mark.realtime
CONFIG = {
    "instructions": """
instructions:
  temperature: {protocolPropertyList: {ModbusAddress: 0, ModbusScale: 0.1}}
  exact: {protocolPropertyList: {ModbusAddress: 2, ModbusType: float32}}
  setpoint: {protocolPropertyList: {ModbusAddress: 10, ModbusType: int16}}
  several: {protocolPropertyList: {ModbusAddress: 12, ModbusCount: 3}}
  switch: {protocolPropertyList: {ModbusTable: coil, ModbusAddress: 3}}
  nowhere: {protocolPropertyList: {ModbusAddress: 999}}
  input: {protocolPropertyList: {ModbusTable: input, ModbusAddress: 0}}
  broken: {protocolPropertyList: {ModbusAddress: here}}
""",
    "telemetries": """
telemetrySettings:
  {telemetryUpdateIntervalInMilliseconds: 100, telemetryInitialDelayInMilliseconds: 0}
telemetries:
  temperature: {properties: {instruction: temperature}}
""",
}


@asynccontextmanager
async def modbus(folder: Path) -> AsyncIterator[Bench]:
    (port,) = free_ports(1)
    async with (
        simulated(serve, port),
        bench(folder, edge_device("Modbus", f"127.0.0.1:{port}"), CONFIG) as made,
    ):
        await until(lambda: made.cluster.phases[-1:] == ["Running"])
        yield made


async def test_h9_registers_are_read_and_written(tmp_path: Path) -> None:
    async with modbus(tmp_path) as made:
        assert await made.text("/temperature") == (200, "21.5")
        assert await made.text("/exact") == (200, "21.5")
        assert await made.text("/setpoint", "PUT", b'{"value": -42}') == (200, "")
        assert await made.text("/setpoint") == (200, "-42")
        assert await made.text("/several", "PUT", b'{"value": [1, 2, 3]}') == (200, "")
        assert await made.text("/several") == (200, "[1, 2, 3]")
        assert await made.text("/switch") == (200, "false")
        assert await made.text("/switch", "PUT", b'{"value": true}') == (200, "")
        assert await made.text("/switch") == (200, "true")


@pytest.mark.parametrize(
    ("path", "method", "body", "said"),
    [
        ("/nowhere", "GET", b"", "IllegalDataAddress"),
        ("/broken", "GET", b"", "ModbusAddress is a whole number"),
        ("/setpoint", "PUT", b'{"value": "x"}', "wrong type of value"),
        ("/setpoint", "PUT", b'{"value": 99999}', "does not fit int16"),
        ("/setpoint", "PUT", b'{"value": NaN}', "wrong type of value"),
        ("/setpoint", "PUT", b"nonsense", "expected"),
        ("/several", "PUT", b'{"value": 1}', "expected 3 values"),
        ("/input", "PUT", b'{"value": 1}', "cannot be written"),
        ("/switch", "PUT", b'{"value": 1}', "should be bool"),
    ],
)
async def test_h9_what_cannot_be_is_400(
    tmp_path: Path, path: str, method: str, body: bytes, said: str
) -> None:
    async with modbus(tmp_path) as made:
        status, text = await made.text(path, method, body)
        assert status == 400
        assert said in text
        assert (await made.text("/temperature"))[0] == 200


async def test_a_device_that_was_restarted_is_read_again(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    async with bench(tmp_path, edge_device("Modbus", f"127.0.0.1:{port}"), CONFIG) as made:
        status, said = await made.text("/temperature")
        assert (status, said.startswith("device not connected: ")) == (503, True)
        for _ in range(2):
            async with simulated(serve, port):
                await until(lambda: made.cluster.phases[-1:] == ["Running"])
                assert await made.text("/temperature") == (200, "21.5")
            await until(lambda: made.cluster.phases[-1] == "Failed")
