"""DNS on the wire (RFC 1035), as much of it as a cluster needs: A, CNAME, PTR, SRV.

Spoken by the embedded cluster's nameserver and by programs in its pods. One question per message;
names are lower case without the last dot. MalformedMessage for what cannot be understood.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from enum import IntEnum
from ipaddress import IPv4Address
from typing import NamedTuple

A = 1
CNAME = 5
PTR = 12
SRV = 33
OPT = 41
UDP_BYTES = 512
"""What a client takes over UDP unless it says that it takes more."""
_INTERNET = 1
_HEADER = struct.Struct("!6H")
_RECORD = struct.Struct("!2HIH")
_SERVICE = struct.Struct("!3H")
_RESPONSE, _TRUNCATED, _AUTHORITATIVE, _DESIRED = 0x8000, 0x0200, 0x0400, 0x0100
_CODE = 0x000F
_POINTER = 0xC0
_LABEL_BYTES = 63
_FIRST_NAME = struct.pack("!H", _POINTER << 8 | _HEADER.size)
"""The name of the question, said again."""


class MalformedMessage(ValueError):
    """Bytes that are no message."""


class ResponseCode(IntEnum):
    """How a question was answered."""

    DONE = 0
    MALFORMED = 1
    NO_NAME = 3
    REFUSED = 5


class DnsQuestion(NamedTuple):
    """What is asked: records of a type for a name."""

    name: str
    kind: int


class SrvData(NamedTuple):
    """The content of an SRV record."""

    priority: int
    weight: int
    port: int
    target: str


class ResourceRecord(NamedTuple):
    """A fact: an address (A), another name (CNAME, PTR), or a port at a name (SRV)."""

    name: str
    kind: int
    data: str | SrvData
    ttl: int = 0


class DnsQuery(NamedTuple):
    """A question as it came."""

    number: int
    question: DnsQuestion
    limit: int = UDP_BYTES
    """The bytes of an answer that fit into one datagram."""


class DnsResponse(NamedTuple):
    """What is answered; `extra` is what was not asked for and will be asked next."""

    code: ResponseCode = ResponseCode.DONE
    records: tuple[ResourceRecord, ...] = ()
    extra: tuple[ResourceRecord, ...] = ()
    truncated: bool = False


def encode_query(number: int, question: DnsQuestion) -> bytes:
    """A question as bytes."""
    return _HEADER.pack(number, _DESIRED, 1, 0, 0, 0) + _encoded_question(question)


def read_query(raw: bytes) -> DnsQuery:
    """The question in some bytes."""
    number, flags, questions, answers, authorities, extras = _header(raw)
    if flags & _RESPONSE or questions != 1:
        raise MalformedMessage("not a message with one question")
    name, at = _name(raw, _HEADER.size)
    kind, _ = _unpack(struct.Struct("!2H"), raw, at)
    limit, at = UDP_BYTES, at + 4
    for _ in range(answers + authorities + extras):
        _, at = _name(raw, at)
        each, size, _, length = _unpack(_RECORD, raw, at)
        at += _RECORD.size + length
        limit = max(UDP_BYTES, size) if each == OPT else limit
    return DnsQuery(number, DnsQuestion(name, kind), limit)


def encode_response(query: DnsQuery, answer: DnsResponse) -> bytes:
    """An answer as bytes."""
    flags = _RESPONSE | _AUTHORITATIVE | _DESIRED | answer.code
    flags |= _TRUNCATED if answer.truncated else 0
    counts = (1, len(answer.records), 0, len(answer.extra))
    head = _HEADER.pack(query.number, flags, *counts) + _encoded_question(query.question)
    return head + _written(query.question, (*answer.records, *answer.extra))


def read_response(raw: bytes, number: int) -> DnsResponse:
    """The answer to a question of that number."""
    given, flags, questions, answers, authorities, extras = _header(raw)
    if given != number or not flags & _RESPONSE:
        raise MalformedMessage("an answer to something else")
    at = _HEADER.size
    for _ in range(questions):
        _, at = _name(raw, at)
        at += 4
    found, _ = _records(raw, at, answers + authorities + extras)
    code = flags & _CODE
    known = ResponseCode(code) if code in tuple(ResponseCode) else ResponseCode.REFUSED
    return DnsResponse(known, tuple(found), truncated=bool(flags & _TRUNCATED))


def encode_error(raw: bytes, code: ResponseCode) -> bytes:
    """What is answered to a message that is none."""
    number = raw[:2].ljust(2, b"\0")
    return number + struct.pack("!5H", _RESPONSE | code, 0, 0, 0, 0)


def _encoded_question(question: DnsQuestion) -> bytes:
    return _encoded(question.name) + struct.pack("!2H", question.kind, _INTERNET)


def _written(question: DnsQuestion, records: Iterable[ResourceRecord]) -> bytes:
    parts = []
    for record in records:
        data = _data(record)
        name = _FIRST_NAME if record.name == question.name else _encoded(record.name)
        parts.append(name + _RECORD.pack(record.kind, _INTERNET, record.ttl, len(data)) + data)
    return b"".join(parts)


def _data(record: ResourceRecord) -> bytes:
    if isinstance(record.data, SrvData):
        return _SERVICE.pack(*record.data[:3]) + _encoded(record.data.target)
    return IPv4Address(record.data).packed if record.kind == A else _encoded(record.data)


def _records(raw: bytes, at: int, count: int) -> tuple[list[ResourceRecord], int]:
    found = []
    for _ in range(count):
        name, at = _name(raw, at)
        kind, _, ttl, length = _unpack(_RECORD, raw, at)
        at += _RECORD.size
        data = _read(raw, at, kind, length)
        if data is not None:
            found.append(ResourceRecord(name, kind, data, ttl))
        at += length
    return found, at


def _read(raw: bytes, at: int, kind: int, length: int) -> str | SrvData | None:
    if kind == A and length == 4 and len(raw) >= at + 4:
        return str(IPv4Address(raw[at : at + 4]))
    if kind in (CNAME, PTR):
        return _name(raw, at)[0]
    if kind == SRV:
        priority, weight, port = _unpack(_SERVICE, raw, at)
        return SrvData(priority, weight, port, _name(raw, at + _SERVICE.size)[0])
    return None


def _encoded(name: str) -> bytes:
    labels = [label.encode("ascii", "replace") for label in name.split(".") if label]
    if any(len(label) > _LABEL_BYTES for label in labels):
        raise MalformedMessage(f"{name!r} has a label of more than {_LABEL_BYTES} bytes")
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def _name(raw: bytes, at: int) -> tuple[str, int]:
    """The name at a place, and where it ends."""
    labels: list[str] = []
    end, before = 0, len(raw)
    while True:
        if at >= len(raw):
            raise MalformedMessage("a name without end")
        length = raw[at]
        if length >= _POINTER:
            (pointer,) = _unpack(struct.Struct("!H"), raw, at)
            end = end or at + 2
            at = pointer & ~(_POINTER << 8)
            # Each leads further back than the one before, or they would go round for ever.
            if at >= before:
                raise MalformedMessage("a name that refers to itself")
            before = at
        elif length == 0:
            return ".".join(labels), end or at + 1
        elif length > _LABEL_BYTES:
            raise MalformedMessage("a label of an unknown sort")
        else:
            labels.append(raw[at + 1 : at + 1 + length].decode("ascii", "replace").lower())
            at += 1 + length


def _header(raw: bytes) -> Sequence[int]:
    return _unpack(_HEADER, raw, 0)


def _unpack(shape: struct.Struct, raw: bytes, at: int) -> tuple[int, ...]:
    try:
        return shape.unpack_from(raw, at)
    except struct.error:
        raise MalformedMessage("a message that is too short") from None
