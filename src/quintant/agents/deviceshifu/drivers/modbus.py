"""Devices that speak Modbus/TCP: an instruction is a register or several, read and written as text.

One connection, one request at a time. It is opened when it is first needed, and again after it
broke: every look at the device tries. What the device refuses is 400 with the exception's name.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from pymodbus.client import AsyncModbusTcpClient
from pymodbus.exceptions import ModbusException

from quintant.agents.deviceshifu.config.values import Instruction
from quintant.agents.deviceshifu.drivers.address import DeviceAddress, DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import (
    Answer,
    DeviceError,
    known_instruction,
    refused,
    whole_body,
)
from quintant.agents.deviceshifu.drivers.go_text import go_value
from quintant.agents.deviceshifu.drivers.modbus_point import (
    BadPoint,
    ModbusPoint,
    modbus_point,
    scaled,
    unscaled,
)
from quintant.agents.deviceshifu.drivers.session import SessionDriver
from quintant.http.request import Request
from quintant.http.response import TEXT, Response

PORT = 502
SECONDS = 3.0
EXCEPTIONS = {
    1: "IllegalFunction", 2: "IllegalDataAddress", 3: "IllegalDataValue",
    4: "ServerDeviceFailure", 5: "Acknowledge", 6: "ServerDeviceBusy", 8: "MemoryParityError",
    10: "GatewayPathUnavailable", 11: "GatewayTargetDeviceFailedToRespond",
}  # fmt: skip
_BROKEN = (ModbusException, OSError, TimeoutError)
# What the library says of every broken connection is told by the driver, once.
logging.getLogger("pymodbus").setLevel(logging.CRITICAL)


class ModbusDriver(SessionDriver):
    """A device that speaks Modbus/TCP."""

    def __init__(self, dialer: DeviceDialer, place: DeviceAddress) -> None:
        super().__init__(dialer, place)
        self._client: AsyncModbusTcpClient | None = None

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        """Read registers, or write them."""
        point = _point(instruction)
        match request.method:
            case "GET":
                return Response(200, TEXT, _text(await self._read(point)).encode())
            case "POST" | "PUT":
                await self._write(point, await whole_body(request))
                return Response(200, {})
        return refused("Method Not Allowed", 405)

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """What registers mean, as text."""
        found = known_instruction(self._config, instruction)
        return _text(await self._read(_point(found))).encode()

    async def check(self, seconds: float | None) -> None:
        """Whether the device takes connections."""
        async with self._one:
            await self._connected()

    async def _read(self, point: ModbusPoint) -> Any:
        names = {"coil": "read_coils", "discrete": "read_discrete_inputs",
                 "input": "read_input_registers", "holding": "read_holding_registers"}  # fmt: skip
        answer = await self._asked(
            names[point.table], point.address, count=point.size, device_id=point.unit
        )
        if point.bits:
            bits = [bool(each) for each in answer.bits[: point.many]]
            return bits if point.many > 1 else bits[0]
        return _meant(point, list(answer.registers))

    async def _write(self, point: ModbusPoint, body: bytes) -> None:
        if not point.writable:
            raise DeviceError(400, f"a {point.table} cannot be written")
        values = _wanted(body, point)
        if point.bits:
            many, one = "write_coils", "write_coil"
        else:
            many, one = "write_registers", "write_register"
            values = _registers(point, values)
        if len(values) == 1:
            await self._asked(one, point.address, values[0], device_id=point.unit)
        else:
            await self._asked(many, point.address, values, device_id=point.unit)

    async def _asked(self, name: str, *words: Any, **more: Any) -> Any:
        async with self._one:
            client = await self._connected()
            try:
                async with asyncio.timeout(SECONDS):
                    answer = await getattr(client, name)(*words, **more)
            except _BROKEN as error:
                await self._close()
                raise self._unreachable(error) from None
            except BaseException:
                await self._close()  # an answer that comes late is nobody's
                raise
        if answer.isError():
            code = getattr(answer, "exception_code", 0)
            raise DeviceError(400, EXCEPTIONS.get(code, f"exception {code}"))
        return answer

    async def _connected(self) -> AsyncModbusTcpClient:
        if self._client is not None and self._client.connected:
            return self._client
        await self._close()
        client = None
        try:
            async with asyncio.timeout(SECONDS):
                found = await self._dialer.find(self._place)
                client = AsyncModbusTcpClient(
                    found.address, port=found.port, timeout=SECONDS, retries=0, reconnect_delay=0
                )
                if not await client.connect():
                    raise ConnectionRefusedError("connection refused")
        except _BROKEN as error:
            if client is not None:
                client.close()
            raise self._unreachable(error) from None
        self._client = client
        return client

    async def _close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()


def _point(instruction: Instruction) -> ModbusPoint:
    try:
        return modbus_point(instruction.properties)
    except BadPoint as error:
        raise DeviceError(400, str(error)) from None


def _meant(point: ModbusPoint, registers: list[int]) -> Any:
    kind = "UINT16" if point.kind == "bool" else point.kind.upper()
    types = AsyncModbusTcpClient.DATATYPE
    order: Any = point.word_order
    found: Any = AsyncModbusTcpClient.convert_from_registers(registers, types[kind], order)
    if point.kind == "string":
        return found
    listed = found if isinstance(found, list) else [found]
    values = [bool(each) if point.kind == "bool" else scaled(point, each) for each in listed]
    return values if point.many > 1 else values[0]


def _registers(point: ModbusPoint, values: list[Any]) -> list[int]:
    kind = "UINT16" if point.kind == "bool" else point.kind.upper()
    types = AsyncModbusTcpClient.DATATYPE
    order: Any = point.word_order
    given: Any = values[0] if point.kind == "string" or len(values) == 1 else values
    try:
        found: list[int] = AsyncModbusTcpClient.convert_to_registers(given, types[kind], order)
    except Exception:  # a value out of range is told in many ways
        raise DeviceError(400, f"the value does not fit {point.kind}") from None
    if len(found) > point.size:
        raise DeviceError(400, f"the value takes {len(found)} registers of {point.size}")
    return found


def _wanted(body: bytes, point: ModbusPoint) -> list[Any]:
    try:
        value = json.loads(body)["value"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DeviceError(400, 'expected {"value": ...}') from None
    values = value if isinstance(value, list) else [value]
    if point.kind == "string":
        if not isinstance(value, str) or not value.isascii():
            raise DeviceError(400, "wrong type of value, value's type should be string")
        return [value]
    if len(values) != point.many:
        raise DeviceError(400, f"expected {point.many} values")
    return [_cast(each, point) for each in values]


def _cast(value: Any, point: ModbusPoint) -> Any:
    if point.kind == "bool":
        if not isinstance(value, bool):
            raise DeviceError(400, "wrong type of value, value's type should be bool")
        return value if point.bits else int(value)
    whole = not point.kind.startswith("float") and point.scale == 1.0
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise DeviceError(400, f"wrong type of value, value's type should be {point.kind}")
    if value - value != 0:
        raise DeviceError(400, f"wrong type of value, value's type should be {point.kind}")
    raw = unscaled(point, value)
    return float(raw) if point.kind.startswith("float") else raw


def _text(value: Any) -> str:
    if not isinstance(value, list):
        return go_value(value)
    return json.dumps([each if each - each == 0 else None for each in value])
