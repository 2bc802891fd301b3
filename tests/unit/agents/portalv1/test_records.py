from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.portalv1.handshake import SessionKeys
from quintant.agents.portalv1.records import (
    CHUNK_BYTES,
    OVERHEAD_BYTES,
    RECORD_BYTES,
    SHORT_BYTES,
    BadRecord,
    RecordBudget,
    RecordOpener,
    RecordSealer,
)

KEYS = SessionKeys(bytes(32), bytes(32))


@given(st.lists(st.binary(max_size=60), max_size=6), st.integers(1, 40))
def test_what_is_sealed_is_what_is_read_wherever_it_is_cut(sent: list[bytes], piece: int) -> None:
    writer, reader = RecordSealer(KEYS), RecordOpener(KEYS)
    raw = b"".join(writer.seal(content) for content in sent)
    got = [
        content for at in range(0, len(raw), piece) for content in reader.feed(raw[at : at + piece])
    ]
    assert got == sent
    assert len(raw) == sum(map(len, sent)) + OVERHEAD_BYTES * len(sent)


@given(st.binary(min_size=1, max_size=60), st.data())
def test_a_byte_that_was_changed_on_the_way_is_noticed(content: bytes, draw: st.DataObject) -> None:
    raw = bytearray(RecordSealer(KEYS).seal(content))
    raw[draw.draw(st.integers(4, len(raw) - 1))] ^= draw.draw(st.integers(1, 255))
    with pytest.raises(BadRecord):
        list(RecordOpener(KEYS).feed(bytes(raw)))


@pytest.mark.parametrize("length", [0, 27, RECORD_BYTES + 1, 2**32 - 1])
def test_a_length_that_no_record_has_is_refused_at_once(length: int) -> None:
    with pytest.raises(BadRecord):
        list(RecordOpener(KEYS).feed(length.to_bytes(4, "big")))


def test_much_is_sealed_in_records_that_fit_into_a_turn() -> None:
    content = bytes(CHUNK_BYTES * 2 + 1)
    records = list(RecordSealer(KEYS).seal_all(content))
    assert [len(each) - OVERHEAD_BYTES for each in records] == [CHUNK_BYTES, CHUNK_BYTES, 1]
    assert b"".join(RecordOpener(KEYS).feed(b"".join(records))) == content


def test_equal_contents_are_not_equal_when_sealed() -> None:
    writer = RecordSealer(KEYS)
    assert writer.seal(b"same") != writer.seal(b"same")


def test_a_long_record_says_how_much_of_it_is_here() -> None:
    raw, reader = RecordSealer(KEYS).seal(bytes(SHORT_BYTES * 2)), RecordOpener(KEYS)
    assert list(reader.feed(raw[:1000])) == []
    assert reader.ahead == 996
    assert list(reader.feed(raw[1000:])) == [bytes(SHORT_BYTES * 2)]
    assert reader.ahead == 0


def test_long_records_have_a_budget() -> None:
    budget = RecordBudget(100)
    budget.take(60)
    with pytest.raises(BadRecord):
        budget.take(41)
    budget.give(60)
    budget.take(100)
