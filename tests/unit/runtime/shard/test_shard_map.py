from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.runtime.shard.layout import LEADER
from quintant.runtime.shard.shard_map import (
    MOST_BYTES,
    RangeHolder,
    ShardMap,
    UnreadableMap,
    decode_map,
    encode_map,
)

MEMBERS = st.sampled_from(["one", "two", "three"])
MAPS = st.builds(
    ShardMap,
    st.text(max_size=16),
    st.just(128),
    st.dictionaries(
        st.integers(LEADER, 127),
        st.builds(RangeHolder, MEMBERS, st.integers(1, 2**62)),
        max_size=129,
    ),
)


def text(**changes: object) -> str:
    held = {"7": [0, 12], "leader": [0, 13]}
    whole = {"version": 1, "layout": "x", "ranges": 128, "id": "i", "proven": True}
    whole |= {"members": ["one"], "held": held}
    return json.dumps({**whole, **changes})


@given(MAPS)
def test_a_map_is_read_as_it_was_written(shards: ShardMap) -> None:
    assert decode_map(encode_map(shards)) == shards


@given(MAPS)
def test_every_range_is_free_or_has_one_holder(shards: ShardMap) -> None:
    held = [number for member in shards.holders() for number in shards.epochs(member)]

    assert sorted([*held, *shards.free()]) == sorted(shards.numbers)


def test_what_is_taken_has_the_epoch_of_the_version_it_was_taken_on() -> None:
    shards = ShardMap("x", 8).taken([1, 2, LEADER], "one", 40).taken([2], "two", 41)

    assert shards.epochs("one") == {1: 40, LEADER: 40}
    assert shards.epochs("two") == {2: 41}


def test_a_member_releases_what_is_its_own_and_nothing_else() -> None:
    shards = ShardMap("x", 8).taken([1], "one", 40).taken([2], "two", 41)

    assert shards.released([1, 2, 3], "one") == ShardMap("x", 8, {2: RangeHolder("two", 41)})


def test_a_full_map_is_small() -> None:
    shards = ShardMap("0123456789abcdef", 128).taken(range(LEADER, 128), "6f1c2d3e4b", 10**9)

    assert len(encode_map(shards)) < 4096


def test_the_largest_map_can_be_read() -> None:
    names = {number: RangeHolder(f"{number:063d}", 2**62) for number in range(LEADER, 1024)}

    assert decode_map(encode_map(ShardMap("x", 1024, names))).held == names


@pytest.mark.parametrize(
    "written",
    [
        "",
        "null",
        "[]",
        "{",
        "[" * 100_000,
        text(version=2),
        text(ranges=100),
        text(ranges=2**40),
        text(members=[]),
        text(members=[""]),
        text(members="one"),
        text(held={"128": [0, 1]}),
        text(held={"-1": [0, 1]}),
        text(held={"07": [0, 1]}),
        text(held={"7": [1, 1]}),
        text(held={"7": [-1, 1]}),
        text(held={"7": [0, 0]}),
        text(held={"7": [0, 10**30]}),
        text(held={"7": [0]}),
        text(held={"7": "one"}),
        text(layout="x" * (MOST_BYTES + 1)),
    ],
)
def test_what_is_no_map_is_refused_and_not_quoted(written: str) -> None:
    with pytest.raises(UnreadableMap) as refused:
        decode_map(written)

    assert "one" not in str(refused.value).split()
