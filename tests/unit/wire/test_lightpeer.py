"""Messages of lightpeers have the bytes that every other lightpeer expects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.wire.lightpeer import (
    BlockType,
    ConnectRequest,
    JoinRequest,
    Lightblock,
    PeerInfo,
    PersistRequest,
    QueryResponse,
    Timestamp,
)
from quintant.wire.message import Message
from quintant.wire.protobuf import Malformed

VECTORS: list[tuple[Message, str]] = [
    (
        Lightblock(id="a", payload=b"b", previous="c", type=BlockType.CLIENT),
        "0a01611201621a01634801",
    ),
    (
        Lightblock(id="n1", payload=b'[{"Address":"10.0.0.1:9081"}]'),
        "0a026e31121d5b7b2241646472657373223a2231302e302e302e313a39303831227d5d",
    ),
    (Lightblock(id="t", updated=Timestamp(1, 2)), "0a0174520408011002"),
    (JoinRequest("10.0.0.1:9081"), "0a0d31302e302e302e313a39303831"),
    (
        ConnectRequest(PeerInfo("10.0.0.2:9081", "n")),
        "0a120a0d31302e302e302e323a3930383112016e",
    ),
    (PersistRequest(b"hi"), "0a026869"),
    (QueryResponse(b"hi"), "0a026869"),
]

texts = st.text(st.characters(codec="utf-8"))
numbers = st.integers(0, 2**63)
timestamps = st.builds(Timestamp, numbers, numbers)
blocks = st.builds(
    Lightblock, texts, st.binary(), texts, st.sampled_from(BlockType), st.none() | timestamps
)


@pytest.mark.parametrize(("message", "raw"), VECTORS)
def test_messages_are_written_and_read_as_everywhere(message: Message, raw: str) -> None:
    assert message.encode().hex() == raw
    assert type(message).decode(bytes.fromhex(raw)) == message


@given(blocks)
def test_every_block_survives_the_wire(block: Lightblock) -> None:
    assert Lightblock.decode(block.encode()) == block


@given(st.binary())
def test_garbage_is_a_block_or_malformed_and_nothing_else(raw: bytes) -> None:
    try:
        found = Lightblock.decode(raw)
    except Malformed:
        return
    assert Lightblock.decode(found.encode()) == found


def test_field_nobody_knows_is_skipped() -> None:
    assert JoinRequest.decode(bytes.fromhex("0a0161" + "7a0162" + "f80107")) == JoinRequest("a")


def test_field_of_another_form_is_malformed() -> None:
    with pytest.raises(Malformed, match="wrong form"):
        JoinRequest.decode(bytes.fromhex("0801"))
