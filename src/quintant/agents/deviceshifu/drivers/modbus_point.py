"""What an instruction says of registers: which, how many, and what they mean. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

TABLES = ("coil", "discrete", "input", "holding")
WORDS = {
    "bool": 1, "int16": 1, "uint16": 1, "int32": 2, "uint32": 2, "int64": 4, "uint64": 4,
    "float32": 2, "float64": 4, "string": 1,
}  # fmt: skip
"""Types, and the registers that one of each takes."""
MOST_REGISTERS, MOST_BITS = 125, 2000
"""Of one request, by the standard."""
_BITS = ("coil", "discrete")


class BadPoint(ValueError):
    """The properties of an instruction name no register."""


class ModbusPoint(NamedTuple):
    """Registers of a device."""

    table: str
    address: int
    many: int
    kind: str
    word_order: str
    unit: int
    scale: float
    offset: float

    @property
    def bits(self) -> bool:
        """Whether these are single bits."""
        return self.table in _BITS

    @property
    def size(self) -> int:
        """How many registers or bits are asked for."""
        return self.many if self.bits else self.many * WORDS[self.kind]

    @property
    def writable(self) -> bool:
        """Whether the protocol has a way to write them."""
        return self.table in ("coil", "holding")


def modbus_point(properties: Mapping[str, str]) -> ModbusPoint:
    """The registers that properties name; BadPoint says what is wrong with them."""
    table = _one_of(properties, "ModbusTable", TABLES, "holding")
    kind = _one_of(properties, "ModbusType", tuple(WORDS), "bool" if table in _BITS else "uint16")
    found = ModbusPoint(
        table,
        _whole(properties, "ModbusAddress", None, 0, 65_535),
        _whole(properties, "ModbusCount", 1, 1, MOST_BITS),
        kind,
        _one_of(properties, "ModbusWordOrder", ("big", "little"), "big"),
        _whole(properties, "ModbusUnitId", 1, 0, 255),
        _number(properties, "ModbusScale", 1.0),
        _number(properties, "ModbusOffset", 0.0),
    )
    if found.size > (MOST_BITS if found.bits else MOST_REGISTERS):
        raise BadPoint(f"ModbusCount asks for {found.size}, which is more than one request takes")
    if found.bits and kind != "bool":
        raise BadPoint(f"a {table} is a bool")
    return found


def scaled(point: ModbusPoint, raw: int | float) -> int | float:
    """What a register means."""
    if (point.scale, point.offset) == (1.0, 0.0):
        return raw
    return raw * point.scale + point.offset


def unscaled(point: ModbusPoint, value: int | float) -> int | float:
    """What is to be in a register, for a meaning."""
    if (point.scale, point.offset) == (1.0, 0.0):
        return value
    raw = (value - point.offset) / point.scale
    return raw if point.kind.startswith("float") else round(raw)


def _one_of(properties: Mapping[str, str], key: str, known: tuple[str, ...], usual: str) -> str:
    found = properties.get(key) or usual
    if found not in known:
        raise BadPoint(f"{key} is one of {', '.join(known)}")
    return found


def _whole(
    properties: Mapping[str, str], key: str, usual: int | None, least: int, most: int
) -> int:
    text = properties.get(key) or (str(usual) if usual is not None else "")
    good = text.isascii() and text.isdigit() and len(text) < 7
    if not good or not least <= int(text) <= most:
        raise BadPoint(f"{key} is a whole number from {least} to {most}")
    return int(text)


def _number(properties: Mapping[str, str], key: str, usual: float) -> float:
    try:
        found = float(properties.get(key) or usual)
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or (key == "ModbusScale" and not found):
        raise BadPoint(f"{key} is a number")
    return found
