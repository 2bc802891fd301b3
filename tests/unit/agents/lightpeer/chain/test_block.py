"""Block files are those of every lightpeer, and nothing unsound gets in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.lightpeer.chain.block import (
    Unsound,
    check,
    checked_address,
    members_in,
    origin,
    payload_of,
    read,
    safe,
    written,
)
from quintant.wire.lightpeer import BlockType, Lightblock, PeerInfo, Timestamp

ids = st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,30}", fullmatch=True).filter(safe)
blocks = st.builds(
    Lightblock,
    ids,
    st.binary(),
    st.just("") | ids,
    st.just(BlockType.CLIENT),
    st.none() | st.builds(Timestamp, st.integers(1, 2**40), st.integers(0, 999_999_999)),
)


def test_client_block_is_written_as_others_write_it() -> None:
    block = Lightblock("b2", b"hi", "b1", BlockType.CLIENT)
    assert written(block) == b'{"ID":"b2","Payload":"aGk=","PrevID":"b1","Type":1}'


def test_first_network_block_has_neither_type_nor_parent() -> None:
    members = [PeerInfo("10.0.0.1:9081"), PeerInfo("10.0.0.2:9081", "n")]
    assert payload_of(members) == (
        b'[{"Address":"10.0.0.1:9081"},{"Address":"10.0.0.2:9081","Name":"n"}]'
    )
    raw = written(Lightblock("n1", payload_of(members)))
    assert raw.startswith(b'{"ID":"n1","Payload":"')
    assert b"Type" not in raw
    assert b"Prev" not in raw


def test_time_of_a_block_is_kept() -> None:
    block = Lightblock("t", b"", "", BlockType.CLIENT, Timestamp(1, 2))
    assert written(block) == b'{"ID":"t","Type":1,"last_updated":{"seconds":1,"nanos":2}}'
    assert read(written(block)) == block


@given(blocks)
def test_every_block_survives_its_file(block: Lightblock) -> None:
    assert read(written(block)) == block


@given(st.binary() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(repr))
def test_file_of_something_else_is_unsound_and_nothing_worse(raw: bytes | str) -> None:
    with pytest.raises(Unsound):
        read(raw if isinstance(raw, bytes) else raw.encode())


@pytest.mark.parametrize(
    "identity", ["", "../x", "a/b", ".hidden", "HEAD", "LOST", "NETWORK", "a" * 129, "a\n", "ü"]
)
def test_id_that_is_no_plain_name_is_unsound(identity: str) -> None:
    with pytest.raises(Unsound, match="not a plain name"):
        check(Lightblock(identity, type=BlockType.CLIENT))


@pytest.mark.parametrize("payload", [b"", b"{}", b"[1]", b'[{"Name":"x"}]', b"[" * 100_000, b"5"])
def test_list_that_is_none_is_unsound(payload: bytes) -> None:
    with pytest.raises(Unsound, match="not a list"):
        check(Lightblock("n", payload))


def test_member_listed_twice_counts_once_and_keeps_its_first_place() -> None:
    rows = b' [ {"Address":"a:1"}, {"Address":"b:1"}, {"Address":"a:1","Name":"later"} ] '
    assert members_in(rows) == (PeerInfo("a:1"), PeerInfo("b:1"))


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1:9081",
        "[::1]:9081",
        "[fe80::1%eth0]:1",
        "[::ffff:10.0.0.1]:1",
        "peer.ns.svc:1",
        "my_peer:1",
        "a:1",
    ],
)
def test_address_is_host_and_port(address: str) -> None:
    assert checked_address(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "10.0.0.1",
        ":9081",
        "::1:9081",
        "a:0",
        "a:70000",
        "a b:1",
        "[::::]:1",
        "[]:1",
        "[:]:1",
        "[10.0.0.1]:1",
        "[1]:1",
        "10.0.0.256:1",
        "1.2.3:1",
        "1234:1",
        "a..b:1",
        ".:1",
        "-a:1",
        "..:1",
        f"{'a' * 64}:1",
    ],
)
def test_anything_else_is_no_address(address: str) -> None:
    with pytest.raises(Unsound, match="not an address"):
        checked_address(address)


def test_block_that_is_linked_anew_remembers_what_it_was() -> None:
    assert origin("4b1c-77.00ff") == origin("4b1c-77") == "4b1c-77"
