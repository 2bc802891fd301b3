"""Protobuf written by hand, and the samples that Go wrote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from quintant.cluster.apiserver.codec.protobuf import MAGIC


class Sample(msgspec.Struct, frozen=True):
    """An object in protobuf, and the JSON that Go makes of it."""

    kind: str
    case: str
    protobuf: bytes
    json: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.kind}-{self.case}"


def samples() -> list[Sample]:
    lines = Path(__file__).with_name("samples.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Sample) for line in lines]


@dataclass(frozen=True)
class ProtobufWriter:
    """A message under construction."""

    data: bytes = b""

    def text(self, number: int, value: str | bytes | ProtobufWriter) -> ProtobufWriter:
        raw = value.data if isinstance(value, ProtobufWriter) else value
        raw = raw.encode() if isinstance(raw, str) else raw
        return ProtobufWriter(self.data + varint(number << 3 | 2) + varint(len(raw)) + raw)

    def number(self, number: int, value: int) -> ProtobufWriter:
        return ProtobufWriter(self.data + varint(number << 3) + varint(value & (2**64 - 1)))


def varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def body(api_version: str, kind: str, message: ProtobufWriter) -> bytes:
    said = ProtobufWriter().text(1, api_version).text(2, kind)
    return MAGIC + ProtobufWriter().text(1, said).text(2, message).data
