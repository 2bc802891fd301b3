"""A client of an MQTT broker: 3.1.1, QoS 0 and 1, one connection, held to the protocol.

    OPENING --CONNACK--> OPEN --ended by either side, by silence, or by nonsense--> ended

What a broker sends is parsed here and nowhere else. Packets are bounded, whatever is not in order
ends the session, and a broker that does not read is not read from: nothing piles up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple, cast

from quintant.agents.broker.packets import (
    MalformedPacket,
    Packet,
    PacketKind,
    PacketParser,
    Publication,
    encode_ack,
    encode_packet,
    encode_publish,
    read_publish,
)

KEEP_ALIVE_SECONDS = 15
LARGEST_TEXT_BYTES = 65_535
_CODES = {
    1: "another version of MQTT", 2: "another client id", 3: "nobody at the moment",
    4: "another name or password", 5: "somebody else",
}  # fmt: skip
"""What a broker wants instead, by the code of its CONNACK."""
_CLEAN, _NAME, _PASSWORD = 0x02, 0x80, 0x40
_REFUSED = 0x80
_NUMBERS = 65_535
_ACKS = {PacketKind.PUBACK: 2, PacketKind.SUBACK: 3, PacketKind.UNSUBACK: 2}
"""Answers to what we ask, and their lengths: each SUBSCRIBE of ours has one filter."""

_Key = tuple[PacketKind, int]


class MqttError(Exception):
    """There is no session with the broker, or it does not do what was asked."""


class MqttLogin(NamedTuple):
    """Who we are to a broker. It holds a secret: it has no repr."""

    username: str | None = None
    password: str | None = None

    def __repr__(self) -> str:
        return "MqttLogin(...)"


class MqttClient(asyncio.Protocol):
    """One session; `hear` gets every message."""

    def __init__(self, hear: Callable[[Publication], None]) -> None:
        self._hear, self._parser = hear, PacketParser()
        self._transport: asyncio.Transport | None = None
        self._waiting: dict[_Key, asyncio.Future[bytes]] = {}
        self._open, self._heard, self._number = False, True, 0
        self._ended, self._why = asyncio.Event(), ""

    async def open(self, client: str, login: MqttLogin) -> None:
        """Introduce ourselves. MqttError if the broker will not have us."""
        found = await self._request(
            (PacketKind.CONNACK, 0), encode_packet(PacketKind.CONNECT, _connect(client, login))
        )
        if found[1]:
            raise MqttError(f"the broker wants {_CODES.get(found[1], f'code {found[1]}')}")

    async def subscribe(self, topic: str) -> None:
        """Hear a topic. MqttError if the broker refuses it."""
        number = self._next_number()
        body = number.to_bytes(2, "big") + _text(topic) + b"\x01"
        packet = encode_packet(PacketKind.SUBSCRIBE, body, flags=2)
        if (await self._request((PacketKind.SUBACK, number), packet))[2] >= _REFUSED:
            raise MqttError(f"the broker refuses the topic {topic[:64]}")

    async def publish(self, topic: str, payload: bytes) -> None:
        """Send a message, and wait until the broker has it."""
        _text(topic)
        if not topic or any(each in topic for each in "+#\0"):
            raise MqttError("a message goes to one topic, without wildcards")
        number = self._next_number()
        message = encode_publish(Publication(topic, payload, 1, number=number))
        await self._request((PacketKind.PUBACK, number), message)

    async def wait(self) -> None:
        """Keep the session until it ends. MqttError says why it did."""
        while not self._ended.is_set():
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS / 2):
                    await self._ended.wait()
            except TimeoutError:
                if not self._heard:
                    self._fail("the broker is silent")
                self._heard = False
                self._send(encode_packet(PacketKind.PINGREQ))
        raise MqttError(self._why)

    def close(self) -> None:
        """End the session, as a client that means it."""
        if self._open:
            self._send(encode_packet(PacketKind.DISCONNECT))
        self._fail("closed")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the broker."""
        self._heard = True
        try:
            for packet in self._parser.feed(data):
                if not self._ended.is_set():
                    self._take(packet)
        except MalformedPacket as error:
            self._fail(f"the broker sent {error}")

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is gone."""
        self._fail("the broker closed the connection")

    def pause_writing(self) -> None:
        """A broker that does not read is not read from."""
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """It reads again."""
        if self._transport is not None:
            self._transport.resume_reading()

    def _take(self, packet: Packet) -> None:
        kind = packet.kind
        if self._open is (kind is PacketKind.CONNACK):
            raise MalformedPacket(f"a {kind.name} at the wrong time")
        if kind is PacketKind.PUBLISH:
            self._publication(read_publish(packet))
            return
        size = {PacketKind.CONNACK: 2, PacketKind.PINGRESP: 0, **_ACKS}.get(kind)
        if size is None or len(packet.body) != size or packet.flags:
            raise MalformedPacket(f"a {kind.name} that is none")
        self._open = True
        number = int.from_bytes(packet.body[:2], "big") if kind in _ACKS else 0
        waiter = self._waiting.get((kind, number))
        if waiter is not None and not waiter.done():  # else who asked has gone
            waiter.set_result(packet.body)

    def _publication(self, message: Publication) -> None:
        if message.qos > 1:
            raise MalformedPacket("a message of a QoS that nobody asked for")
        self._hear(message)
        if message.qos:
            self._send(encode_ack(PacketKind.PUBACK, message.number))

    async def _request(self, key: _Key, packet: bytes) -> bytes:
        if self._ended.is_set():
            raise MqttError(self._why)
        waiter: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[key] = waiter
        try:
            self._send(packet)
            return await waiter
        finally:
            self._waiting.pop(key, None)

    def _send(self, data: bytes) -> None:
        if self._transport is not None and not self._ended.is_set():
            self._transport.write(data)

    def _next_number(self) -> int:
        self._number = self._number % _NUMBERS + 1
        return self._number

    def _fail(self, why: str) -> None:
        if self._ended.is_set():
            return
        self._why = why
        self._ended.set()
        for waiter in self._waiting.values():
            if not waiter.done():
                waiter.set_exception(MqttError(why))
        if self._transport is not None:
            self._transport.close()


def _connect(client: str, login: MqttLogin) -> bytes:
    flags, ending = _CLEAN, _text(client)
    if login.username:
        flags, ending = flags | _NAME, ending + _text(login.username)
        if login.password:
            flags, ending = flags | _PASSWORD, ending + _text(login.password)
    return _text("MQTT") + bytes([4, flags]) + KEEP_ALIVE_SECONDS.to_bytes(2, "big") + ending


def _text(text: str) -> bytes:
    raw = text.encode("utf-8", "replace")
    if len(raw) > LARGEST_TEXT_BYTES:
        raise MqttError("a text that is too long for MQTT")
    return len(raw).to_bytes(2, "big") + raw
