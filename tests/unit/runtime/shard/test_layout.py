from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core.errors import ConfigError
from quintant.core.object import Request
from quintant.runtime.shard.layout import (
    LEADER,
    Shards,
    by_key,
    by_namespace,
    make_layout,
    range_name,
    range_of,
    shard_key_name,
)
from quintant.runtime.shard.plan import quotas

# Other versions and other languages must come to the same numbers: of 8, 128 and 1024 ranges.
VECTORS = [
    (Request("a", "default"), "", (1, 30, 247)),
    (Request("b", "default"), "", (5, 85, 684)),
    (Request("tenant-000"), "", (5, 87, 702)),
    (Request("", "team"), "", (7, 126, 1014)),
    (Request("ünicode", "x"), "", (1, 29, 234)),
]


@pytest.mark.parametrize(("key", "cluster", "ranges"), VECTORS)
def test_a_key_is_in_the_same_range_for_ever(
    key: Request, cluster: str, ranges: tuple[int, int, int]
) -> None:
    assert tuple(range_of(key, count, cluster) for count in (8, 128, 1024)) == ranges


def test_a_cluster_is_a_part_of_the_key() -> None:
    assert range_of(Request("a", "default"), 128, "east") == 89


@given(st.text(max_size=20), st.text(max_size=20), st.sampled_from([8, 16, 128, 1024]))
def test_a_range_is_the_top_bits_of_the_hash(name: str, namespace: str, ranges: int) -> None:
    digest = blake2b(f"/{namespace}/{name}".encode(), digest_size=8).hexdigest()

    assert range_of(Request(name, namespace), ranges) == int(digest, 16) * ranges // 2**64


def test_a_hundred_numbered_namespaces_are_spread() -> None:
    keys = [Request("x", f"tenant-{number:03d}") for number in range(100)]
    found = Counter(range_of(by_namespace(key), 128) for key in keys)

    assert len(found) > 60
    assert max(found.values()) <= 4


def test_the_fullest_of_five_members_has_a_tenth_more_than_the_mean_at_most() -> None:
    shares = quotas(["a", "b", "c", "d", "e"], 128)
    owners = [name for name, share in shares.items() for _ in range(share)]
    keys = [Request(f"greeter-{number}", "default") for number in range(10_000)]
    found = Counter(owners[range_of(key, 128)] for key in keys)

    assert max(found.values()) <= 1.1 * 2_000


def test_a_namespace_stays_together_whatever_the_names() -> None:
    assert by_namespace(Request("a", "team")) == by_namespace(Request("b", "team"))
    assert by_key(Request("a", "team")) == Request("a", "team")


@pytest.mark.parametrize("ranges", [0, -8, 4, 100, 129, 2048])
def test_ranges_that_are_no_power_of_two_are_refused(ranges: int) -> None:
    with pytest.raises(ConfigError, match="power of two from 8 to 1024"):
        Shards(ranges)


@pytest.mark.parametrize("ranges", [8, 128, 1024])
def test_ranges_that_are_a_power_of_two_are_taken(ranges: int) -> None:
    assert Shards(ranges).ranges == ranges


def test_layouts_differ_where_members_would_divide_keys_differently() -> None:
    base = make_layout(128, [("a", "key"), ("b", "namespace")])
    others = [
        make_layout(256, [("a", "key"), ("b", "namespace")]),
        make_layout(128, [("a", "namespace"), ("b", "namespace")]),
        make_layout(128, [("a", "key")]),
    ]

    assert base.digest == make_layout(128, [("b", "namespace"), ("a", "key")]).digest
    assert len({base.digest, *(other.digest for other in others)}) == 4


def test_shard_keys_have_names_that_tell_them_apart() -> None:
    assert shard_key_name(by_key) != shard_key_name(by_namespace)


def test_ranges_are_shown_by_number_and_the_leader_by_name() -> None:
    assert (range_name(7), range_name(LEADER)) == ("7", "leader")
