"""What registers mean: numbers and texts from words of 16 bits, and to them. Pure."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from quintant.agents.deviceshifu.drivers.modbus_point import WORDS, ModbusPoint, scaled

_FORMATS = {
    "bool": "H", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
    "uint64": "Q", "float32": "f", "float64": "d",
}  # fmt: skip
_WORD = 2

Value = bool | int | float | str


def decode_values(point: ModbusPoint, raw: bytes) -> list[Value]:
    """What the registers of a point mean; a text is one value."""
    if point.kind == "string":
        text = b"".join(_words(raw)[::-1]) if point.word_order == "little" else raw
        return [text.rstrip(b"\0").decode("utf-8", "replace")]
    size = _WORD * WORDS[point.kind]
    numbers = (
        struct.unpack(f">{_FORMATS[point.kind]}", _ordered(point, raw[at : at + size]))[0]
        for at in range(0, len(raw), size)
    )
    return [bool(each) if point.kind == "bool" else scaled(point, each) for each in numbers]


def encode_values(point: ModbusPoint, values: Sequence[Value]) -> list[int]:
    """Values as registers; ValueError if one does not fit."""
    if point.kind == "string":
        text = str(values[0]).encode()
        raw = text + b"\0" * (len(text) % _WORD)
        words = _words(raw)
        raw = b"".join(words[::-1] if point.word_order == "little" else words)
    else:
        try:
            packed = [struct.pack(f">{_FORMATS[point.kind]}", each) for each in values]
        except (struct.error, OverflowError):
            raise ValueError(f"the value does not fit {point.kind}") from None
        raw = b"".join(_ordered(point, each) for each in packed)
    return [int.from_bytes(each, "big") for each in _words(raw)]


def _ordered(point: ModbusPoint, raw: bytes) -> bytes:
    return b"".join(_words(raw)[::-1]) if point.word_order == "little" else raw


def _words(raw: bytes) -> list[bytes]:
    return [raw[at : at + _WORD] for at in range(0, len(raw), _WORD)]
