"""Modbus/TCP on the wire: requests to bytes, and answers that are held to what was asked. Pure.

An answer is believed only if it is the one to the request: its number, its unit, its function and
its length. Everything else is a BadAnswer: a register that is off by one is a wrong success.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

HEADER_BYTES = 7
MOST_BYTES = 253
"""Of what follows the header, by the standard."""
READS = {"coil": 1, "discrete": 2, "holding": 3, "input": 4}
WRITE_COIL, WRITE_REGISTER, WRITE_COILS, WRITE_REGISTERS = 5, 6, 15, 16
_ON = 0xFF00
_REFUSED = 0x80
_HEADER, _PAIR = struct.Struct(">HHHB"), struct.Struct(">HH")


class BadAnswer(Exception):
    """Bytes that are no answer to what was asked."""


class ModbusRefused(Exception):
    """The device says that it does not do it."""

    def __init__(self, code: int) -> None:
        super().__init__(f"exception {code}")
        self.code = code


class ModbusRequest(NamedTuple):
    """What is asked of a unit, and the length or the echo that answers it."""

    unit: int
    """0 is whoever hears it: the answer names itself."""
    function: int
    body: bytes
    size: int = 0
    """Bytes of registers or bits that a read is answered with."""


def read_request(unit: int, table: str, address: int, count: int) -> ModbusRequest:
    """Ask for registers or bits."""
    bits = table in ("coil", "discrete")
    size = (count + 7) // 8 if bits else 2 * count
    return ModbusRequest(unit, READS[table], _PAIR.pack(address, count), size)


def write_coils(unit: int, address: int, values: Sequence[bool]) -> ModbusRequest:
    """Set bits: one as one, several together."""
    if len(values) == 1:
        return ModbusRequest(unit, WRITE_COIL, _PAIR.pack(address, _ON if values[0] else 0))
    packed = sum(1 << at for at, each in enumerate(values) if each)
    raw = packed.to_bytes((len(values) + 7) // 8, "little")
    body = _PAIR.pack(address, len(values)) + bytes([len(raw)]) + raw
    return ModbusRequest(unit, WRITE_COILS, body)


def write_registers(unit: int, address: int, values: Sequence[int]) -> ModbusRequest:
    """Set registers: one as one, several together."""
    if len(values) == 1:
        return ModbusRequest(unit, WRITE_REGISTER, _PAIR.pack(address, values[0]))
    raw = struct.pack(f">{len(values)}H", *values)
    body = _PAIR.pack(address, len(values)) + bytes([len(raw)]) + raw
    return ModbusRequest(unit, WRITE_REGISTERS, body)


def encode_frame(request: ModbusRequest, number: int) -> bytes:
    """A request as bytes."""
    size = len(request.body) + 2
    return _HEADER.pack(number, 0, size, request.unit) + bytes([request.function]) + request.body


def body_length(header: bytes, request: ModbusRequest, number: int) -> int:
    """How many bytes follow the header of an answer."""
    found, protocol, size, unit = _HEADER.unpack(header)
    if protocol:
        raise BadAnswer("what came is not Modbus")
    if found != number or (request.unit and unit != request.unit):
        raise BadAnswer("an answer to another request")
    if not 2 <= size <= MOST_BYTES + 1:
        raise BadAnswer(f"an answer of {size} bytes")
    return int(size) - 1


def read_answer(body: bytes, request: ModbusRequest) -> bytes:
    """The registers or bits of an answer; nothing for a write. ModbusRefused if it says no."""
    function, rest = body[0], body[1:]
    if function == request.function | _REFUSED and len(rest) == 1:
        raise ModbusRefused(rest[0])
    if function != request.function:
        raise BadAnswer(f"an answer of function {function} to one of {request.function}")
    if not request.size:
        if rest != request.body[:4]:
            raise BadAnswer("a write that was confirmed as another")
        return b""
    if len(rest) != request.size + 1 or rest[0] != request.size:
        raise BadAnswer(f"{len(rest)} bytes of values, where {request.size + 1} answer")
    return rest[1:]


def bits_of(raw: bytes, count: int) -> list[bool]:
    """The bits of an answer."""
    return [bool(raw[at // 8] >> at % 8 & 1) for at in range(count)]
