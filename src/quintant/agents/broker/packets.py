"""MQTT 3.1.1 on the wire: packets from bytes and to bytes, as far as QoS 1 goes. Pure."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

LARGEST_BYTES = 1024 * 1024
"""Of a packet; a client that announces more is cut off."""
_LENGTH_BYTES = 4


class MalformedPacket(Exception):
    """Bytes that are no MQTT; the connection ends."""


class PacketKind(IntEnum):
    """What a packet is, by its first four bits."""

    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14


class Packet(NamedTuple):
    """A packet, not taken apart yet."""

    kind: PacketKind
    flags: int
    body: bytes


class Publication(NamedTuple):
    """A message."""

    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    number: int = 0
    duplicate: bool = False

    @property
    def size(self) -> int:
        """Bytes of topic and payload."""
        return len(self.topic.encode()) + len(self.payload)


class Introduction(NamedTuple):
    """What a client says of itself."""

    client: str
    clean: bool
    keep_alive: int
    will: Publication | None
    level: int


class Subscriptions(NamedTuple):
    """What a client wants to hear, or no longer."""

    number: int
    filters: tuple[tuple[str, int], ...]


class PacketParser:
    """Packets as their bytes come in, cut anywhere."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> list[Packet]:
        """The packets that are whole by now."""
        self._held += data
        found = []
        while (packet := self._next()) is not None:
            found.append(packet)
        return found

    def _next(self) -> Packet | None:
        held = self._held
        size = shift = 0
        for at in range(1, _LENGTH_BYTES + 1):
            if at >= len(held):
                return None
            size |= (held[at] & 0x7F) << shift
            shift += 7
            if not held[at] & 0x80:
                break
        else:
            raise MalformedPacket("a length of more than four bytes")
        if size > LARGEST_BYTES:
            raise MalformedPacket("a packet that is too large")
        if len(held) < at + 1 + size:
            return None
        try:
            kind = PacketKind(held[0] >> 4)
        except ValueError:
            raise MalformedPacket("a packet of no known kind") from None
        packet = Packet(kind, held[0] & 0x0F, bytes(held[at + 1 : at + 1 + size]))
        del held[: at + 1 + size]
        return packet


def read_connect(body: bytes) -> Introduction:
    """A CONNECT, taken apart."""
    name, at = _string(body, 0)
    if len(body) < at + 4 or name not in ("MQTT", "MQIsdp"):
        raise MalformedPacket("a CONNECT of no protocol that is known")
    level, flags, keep = body[at], body[at + 1], int.from_bytes(body[at + 2 : at + 4], "big")
    client, at = _string(body, at + 4)
    will = None
    if flags & 0x04:
        topic, at = _string(body, at)
        payload, at = _binary(body, at)
        will = Publication(topic, payload, min((flags >> 3) & 3, 1), bool(flags & 0x20))
    return Introduction(client, bool(flags & 0x02), keep, will, level)


def read_publish(packet: Packet) -> Publication:
    """A PUBLISH, taken apart."""
    qos = (packet.flags >> 1) & 3
    if qos == 3:
        raise MalformedPacket("a QoS of 3")
    topic, at = _string(packet.body, 0)
    if not topic or any(each in topic for each in "+#\0"):
        raise MalformedPacket("a topic that is none")
    number = 0
    if qos:
        number, at = _number(packet.body, at), at + 2
    return Publication(
        topic, packet.body[at:], qos, bool(packet.flags & 1), number, bool(packet.flags & 8)
    )


def read_subscribe(packet: Packet) -> Subscriptions:
    """A SUBSCRIBE or an UNSUBSCRIBE, taken apart."""
    wants = packet.kind is PacketKind.SUBSCRIBE
    number, at = _number(packet.body, 0), 2
    found = []
    while at < len(packet.body):
        text, at = _string(packet.body, at)
        qos = 0
        if wants:
            if at >= len(packet.body):
                raise MalformedPacket("a filter without QoS")
            qos, at = packet.body[at], at + 1
        found.append((text, qos))
    if not found or packet.flags != 2:
        raise MalformedPacket("a SUBSCRIBE that is none")
    return Subscriptions(number, tuple(found))


def read_number(body: bytes) -> int:
    """The number that an acknowledgement is about."""
    return _number(body, 0)


def encode_packet(kind: PacketKind, body: bytes = b"", flags: int = 0) -> bytes:
    """A packet as bytes."""
    length, left = bytearray(), len(body)
    while True:
        left, part = left >> 7, left & 0x7F
        length.append(part | (0x80 if left else 0))
        if not left:
            return bytes([kind << 4 | flags]) + bytes(length) + body


def encode_publish(publication: Publication) -> bytes:
    """A PUBLISH as bytes."""
    topic = publication.topic.encode()
    body = len(topic).to_bytes(2, "big") + topic
    if publication.qos:
        body += publication.number.to_bytes(2, "big")
    flags = publication.duplicate << 3 | publication.qos << 1 | publication.retain
    return encode_packet(PacketKind.PUBLISH, body + publication.payload, flags)


def encode_connack(code: int, *, present: bool = False) -> bytes:
    """The answer to a CONNECT."""
    return encode_packet(PacketKind.CONNACK, bytes([present, code]))


def encode_ack(kind: PacketKind, number: int, codes: bytes = b"") -> bytes:
    """An acknowledgement."""
    return encode_packet(kind, number.to_bytes(2, "big") + codes)


def _string(body: bytes, at: int) -> tuple[str, int]:
    raw, at = _binary(body, at)
    try:
        return raw.decode(), at
    except UnicodeDecodeError:
        raise MalformedPacket("a string that is no UTF-8") from None


def _binary(body: bytes, at: int) -> tuple[bytes, int]:
    end = at + 2 + _number(body, at)
    if end > len(body):
        raise MalformedPacket("a string that breaks off")
    return body[at + 2 : end], end


def _number(body: bytes, at: int) -> int:
    if len(body) < at + 2:
        raise MalformedPacket("a packet that breaks off")
    return int.from_bytes(body[at : at + 2], "big")
