"""Devices that speak Modbus/TCP: an instruction is a register or several, read and written as text.

One connection, one request at a time. It is opened when it is first needed, and again after it
broke: every look at the device tries. What the device refuses is 400 with the exception's name.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from quintant.agents.deviceshifu.config.values import Instruction
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import (
    BROKEN,
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
    unscaled,
)
from quintant.agents.deviceshifu.drivers.modbus_values import Value, decode_values, encode_values
from quintant.agents.deviceshifu.drivers.modbus_wire import (
    HEADER_BYTES,
    BadAnswer,
    ModbusRefused,
    ModbusRequest,
    bits_of,
    body_length,
    encode_frame,
    read_answer,
    read_request,
    write_coils,
    write_registers,
)
from quintant.agents.deviceshifu.drivers.session import StreamDriver
from quintant.http.request import Request
from quintant.http.response import TEXT, Response
from quintant.wire.shifu import DeviceAddress

PORT = 502
SECONDS = 3.0
EXCEPTIONS = {
    1: "IllegalFunction", 2: "IllegalDataAddress", 3: "IllegalDataValue",
    4: "ServerDeviceFailure", 5: "Acknowledge", 6: "ServerDeviceBusy", 8: "MemoryParityError",
    10: "GatewayPathUnavailable", 11: "GatewayTargetDeviceFailedToRespond",
}  # fmt: skip
_NUMBERS = 65_536


class ModbusDriver(StreamDriver):
    """A device that speaks Modbus/TCP."""

    def __init__(self, dialer: DeviceDialer, address: DeviceAddress) -> None:
        super().__init__(dialer, address)
        self._number = 0

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

    async def _read(self, point: ModbusPoint) -> Value | list[Value]:
        request = read_request(point.unit, point.table, point.address, point.size)
        raw = await self._exchange(request)
        found: list[Value] = (
            [*bits_of(raw, point.many)] if point.bits else decode_values(point, raw)
        )
        return found if point.many > 1 and point.kind != "string" else found[0]

    async def _write(self, point: ModbusPoint, body: bytes) -> None:
        if not point.writable:
            raise DeviceError(400, f"a {point.table} cannot be written")
        values = _wanted(body, point)
        if point.bits:
            request = write_coils(point.unit, point.address, values)
        else:
            request = write_registers(point.unit, point.address, _registers(point, values))
        await self._exchange(request)

    async def _exchange(self, request: ModbusRequest) -> bytes:
        async with self._one:
            try:
                async with asyncio.timeout(SECONDS):
                    body = await self._send(request)
                return read_answer(body, request)
            except ModbusRefused as error:
                raise DeviceError(400, EXCEPTIONS.get(error.code, str(error))) from None
            except BaseException as error:
                await self._close()  # an answer that comes late is nobody's
                if (failure := self._failure(error)) is None:
                    raise
                raise failure from None

    def _failure(self, error: BaseException) -> DeviceError | None:
        """What a caller hears of a failure, if it is the device's."""
        match error:
            case BadAnswer():
                return DeviceError(BROKEN, f"{self._address} sent {error}")
            case asyncio.IncompleteReadError():
                return DeviceError(BROKEN, f"{self._address} broke off in the middle of its answer")
            case OSError() | TimeoutError():
                return self._unreachable(error)
        return None

    async def _send(self, request: ModbusRequest) -> bytes:
        reader, writer = await self._connected()
        self._number = (self._number + 1) % _NUMBERS
        writer.write(encode_frame(request, self._number))
        await writer.drain()
        header = await reader.readexactly(HEADER_BYTES)
        body = await reader.readexactly(body_length(header, request, self._number))
        self._answering = self._streams
        return body


def _point(instruction: Instruction) -> ModbusPoint:
    try:
        return modbus_point(instruction.properties)
    except BadPoint as error:
        raise DeviceError(400, str(error)) from None


def _registers(point: ModbusPoint, values: list[Any]) -> list[int]:
    try:
        found = encode_values(point, values)
    except ValueError as error:
        raise DeviceError(400, str(error)) from None
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
