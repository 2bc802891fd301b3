"""MQTT on the wire: what is written is read again, and no bytes do harm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.broker.packets import (
    MalformedPacket,
    Packet,
    PacketKind,
    PacketParser,
    Publication,
    encode_packet,
    encode_publish,
    read_connect,
    read_publish,
    read_subscribe,
)

TOPICS = st.text(st.characters(codec="utf-8", exclude_characters="+#\0"), min_size=1, max_size=50)


@given(TOPICS, st.binary(max_size=300), st.booleans(), st.integers(1, 65535), st.integers(1, 7))
def test_a_message_is_read_as_it_was_written(
    topic: str, payload: bytes, retain: bool, number: int, step: int
) -> None:
    said = Publication(topic, payload, 1, retain, number)
    raw, parser, found = encode_publish(said), PacketParser(), list[Packet]()
    for at in range(0, len(raw), step):
        found += parser.feed(raw[at : at + step])
    assert [read_publish(each) for each in found] == [said]


@given(st.binary(max_size=200))
def test_no_bytes_do_harm(raw: bytes) -> None:
    for kind in (PacketKind.CONNECT, PacketKind.PUBLISH, PacketKind.SUBSCRIBE):
        for flags in (0, 2, 6):
            packet = Packet(kind, flags, raw)
            for read in (lambda p: read_connect(p.body), read_publish, read_subscribe):
                try:
                    read(packet)
                except MalformedPacket:
                    continue


def test_a_packet_that_is_too_large_is_refused_by_its_first_bytes() -> None:
    with pytest.raises(MalformedPacket):
        PacketParser().feed(b"\x30\xff\xff\xff\x7f")


@given(st.integers(0, 300_000))
def test_lengths_are_read_as_they_were_written(size: int) -> None:
    [packet] = PacketParser().feed(encode_packet(PacketKind.PUBLISH, bytes(size)))
    assert len(packet.body) == size
