"""All clients of the broker, and the messages that it keeps.

    CONNECT first --> anything else, until DISCONNECT, the end, silence, or another with the same id

Whatever is wrong with one client ends its connection, and nothing else.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import count

from quintant.agents.broker.packets import (
    Introduction,
    MalformedPacket,
    Packet,
    PacketKind,
    PacketParser,
    Publication,
    encode_ack,
    encode_connack,
    encode_packet,
    read_connect,
    read_number,
    read_publish,
    read_subscribe,
)
from quintant.agents.broker.session import BrokerSession
from quintant.agents.broker.topics import fits, valid_filter

READ_BYTES = 64 * 1024
INTRODUCTION_SECONDS = 10.0
SILENCE = 1.5
"""How many times its keep-alive a client may be silent, by the standard."""
MOST_BEHIND = 4 * 1024 * 1024
"""Bytes that a client may leave unread before it is cut off."""
MOST_RETAINED = 10_000
MOST_RETAINED_BYTES = 16 * 1024 * 1024
"""Topics and payloads of all retained messages together; what does not fit is not retained."""
LEVEL = 4
_ACCEPTED, _BAD_LEVEL, _BAD_ID = 0, 1, 2
_FAILED = 0x80


class Broker:
    """A broker, in memory."""

    def __init__(self) -> None:
        self._sessions: dict[str, BrokerSession] = {}
        self._connected: dict[str, asyncio.StreamWriter] = {}
        self._retained: dict[str, Publication] = {}
        self.retained_bytes: int = 0
        self._numbers = count(1)

    @property
    def clients(self) -> tuple[str, ...]:
        """Who is connected."""
        return tuple(self._connected)

    @property
    def retained(self) -> tuple[Publication, ...]:
        """What is told to who subscribes later."""
        return tuple(self._retained.values())

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end."""
        try:
            await self._serve(reader, writer)
        except (MalformedPacket, OSError, TimeoutError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def close(self) -> None:
        """End every connection."""
        for writer in tuple(self._connected.values()):
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        parser, packets = PacketParser(), list[Packet]()
        async with asyncio.timeout(INTRODUCTION_SECONDS):
            while not packets:
                packets = parser.feed(await _some(reader))
        first = packets.pop(0)
        if first.kind is not PacketKind.CONNECT:
            raise MalformedPacket("something before CONNECT")
        who = read_connect(first.body)
        if (refused := _refused(who)) is not None:
            writer.write(encode_connack(refused))
            await writer.drain()
            return
        session, will = self._enter(who, writer), who.will
        limit = who.keep_alive * SILENCE or None
        try:
            while True:
                for packet in packets:
                    if packet.kind is PacketKind.DISCONNECT:
                        will = None
                        return
                    self._take(session, packet, writer)
                await _drained(writer)
                async with asyncio.timeout(limit):
                    packets = parser.feed(await _some(reader))
        finally:
            self._leave(session, writer)
            if will is not None:
                self.publish(will)

    def publish(self, publication: Publication) -> None:
        """Give a message to all who want to hear it, and keep it if it is to be kept."""
        if publication.retain:
            self._retain(publication)
        for session in tuple(self._sessions.values()):
            session.deliver(publication._replace(retain=False, duplicate=False))

    def _retain(self, publication: Publication) -> None:
        """Keep a message in place of the one before, if there is room for it; else none."""
        before = self._retained.pop(publication.topic, None)
        self.retained_bytes -= before.size if before is not None else 0
        fits_in = self.retained_bytes + publication.size <= MOST_RETAINED_BYTES
        if publication.payload and fits_in and len(self._retained) < MOST_RETAINED:
            self._retained[publication.topic] = publication
            self.retained_bytes += publication.size

    def _enter(self, who: Introduction, writer: asyncio.StreamWriter) -> BrokerSession:
        client = who.client or f"nameless-{next(self._numbers)}"
        if (before := self._connected.pop(client, None)) is not None:
            before.close()  # the newcomer takes its place
        kept = self._sessions.get(client)
        if kept is not None and (who.clean or kept.clean):
            kept = None
        session = kept or BrokerSession(client, who.clean)
        session.clean = who.clean
        self._sessions[client], self._connected[client] = session, writer
        writer.write(encode_connack(_ACCEPTED, present=kept is not None))
        session.attach(writer.write)
        session.flush()
        return session

    def _leave(self, session: BrokerSession, writer: asyncio.StreamWriter) -> None:
        if self._connected.get(session.client) is not writer:
            return  # another took its place
        del self._connected[session.client]
        session.detach()
        if session.clean:
            del self._sessions[session.client]

    def _take(self, session: BrokerSession, packet: Packet, writer: asyncio.StreamWriter) -> None:
        match packet.kind:
            case PacketKind.PUBLISH:
                publication = read_publish(packet)
                if publication.qos == 2:
                    raise MalformedPacket("QoS 2 is not served")
                self.publish(publication)
                if publication.qos:
                    writer.write(encode_ack(PacketKind.PUBACK, publication.number))
            case PacketKind.PUBACK:
                session.acknowledge(read_number(packet.body))
            case PacketKind.SUBSCRIBE:
                self._subscribe(session, packet, writer)
            case PacketKind.UNSUBSCRIBE:
                request = read_subscribe(packet)
                for text, _ in request.filters:
                    session.filters.pop(text, None)
                writer.write(encode_ack(PacketKind.UNSUBACK, request.number))
            case PacketKind.PINGREQ:
                writer.write(encode_packet(PacketKind.PINGRESP))
            case _:
                raise MalformedPacket(f"a {packet.kind.name} from a client")

    def _subscribe(
        self, session: BrokerSession, packet: Packet, writer: asyncio.StreamWriter
    ) -> None:
        request = read_subscribe(packet)
        granted = [min(qos, 1) if valid_filter(text) else _FAILED for text, qos in request.filters]
        writer.write(encode_ack(PacketKind.SUBACK, request.number, bytes(granted)))
        for (text, _), qos in zip(request.filters, granted, strict=True):
            if qos == _FAILED:
                continue
            session.filters[text] = qos
            for publication in self.retained:
                if fits(publication.topic, text):
                    session.deliver(publication)


def _refused(who: Introduction) -> int | None:
    if who.level != LEVEL:
        return _BAD_LEVEL
    return _BAD_ID if not who.client and not who.clean else None


async def _some(reader: asyncio.StreamReader) -> bytes:
    data = await reader.read(READ_BYTES)
    if not data:
        raise MalformedPacket("the end")
    return data


async def _drained(writer: asyncio.StreamWriter) -> None:
    if writer.transport.get_write_buffer_size() > MOST_BEHIND:
        raise MalformedPacket("a client that does not read")
    await writer.drain()
