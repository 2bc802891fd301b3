from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from quintant.api.coordination import Lease, LeaseSpec
from quintant.core.clock import micro_timestamp
from quintant.core.object import ObjectMeta, Request
from quintant.runtime.shard.group_lease import MAP, group_lease, group_spec
from quintant.runtime.shard.group_report import GroupReport, members_table, places, report
from quintant.runtime.shard.layout import LEADER, range_of
from quintant.runtime.shard.member import LAYOUT, STATE
from quintant.runtime.shard.shard_map import ShardMap

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WHOLE = ShardMap("x", 8, id="i", proven=True).taken(range(LEADER, 4), "a", 5)
SHARED = WHOLE.taken(range(4, 8), "b", 7)


def member(
    id: str, state: str = "ready", *, age: float = 1.0, holder: str = "pod_1", layout: str = "x"
) -> Lease:
    meta = ObjectMeta(name=f"harbour-{id}", annotations={LAYOUT: layout, STATE: state})
    renewed = micro_timestamp(NOW - timedelta(seconds=age))
    return Lease(metadata=meta, spec=LeaseSpec(holder_identity=holder, renew_time=renewed))


def told(shards: ShardMap, *members: Lease) -> GroupReport:
    group = group_lease("harbour", "default", shards, group_spec(NOW))
    return report("harbour", "default", [group, *members], NOW)


def test_members_are_shown_with_their_ranges_and_epochs() -> None:
    heading, lines = members_table(told(SHARED, member("a"), member("b", age=0)))

    assert heading[:6] == ("MEMBER", "PROCESS", "STATE", "RANGES", "LEADER", "EPOCHS")
    assert lines == [
        ("a", "pod_1", "ready", "4", "yes", "5", "1s ago", "x"),
        ("b", "pod_1", "ready", "4", "", "7", "0s ago", "x"),
    ]


def test_where_all_is_well_nothing_waits() -> None:
    found = told(SHARED, member("a"), member("b"))

    assert (found.waits, found.free, found.ranges) == ([], [], 8)


@pytest.mark.parametrize(
    ("lease", "state", "wait"),
    [
        (member("b", age=18), "silent", "b is silent and holds 4 ranges: it is buried after 17 s"),
        (member("b", holder=""), "ended", "b has ended and holds 4 ranges: they may be taken"),
        (member("b", "leaving"), "leaving", "b is leaving and holds 4 ranges: /readyz?verbose"),
        (member("b", layout="y"), "ready", "b has another layout: it waits until no range is"),
        (None, "missing", "b is missing and holds 4 ranges"),
    ],
)
def test_what_keeps_ranges_where_they_are_is_told(
    lease: Lease | None, state: str, wait: str
) -> None:
    found = told(SHARED, member("a"), *([lease] if lease is not None else []))

    assert found.members[1].state == state
    assert [each.startswith(wait) for each in found.waits] == [True]


def test_ranges_that_nobody_holds_are_named() -> None:
    found = told(WHOLE, member("a"))

    assert found.free == ["4", "5", "6", "7"]
    assert found.waits == ["no member holds 4-7"]


def test_a_map_that_is_new_cannot_be_read_or_is_not_there_is_told() -> None:
    new = told(ShardMap("x", 8)).waits
    led = Lease(metadata=ObjectMeta(name="harbour"), spec=LeaseSpec(holder_identity="old_1"))
    damaged = group_lease("harbour", "default", WHOLE, group_spec(NOW))
    damaged.metadata.annotations[MAP] = "{"  # type: ignore[index]  # an object of this test alone

    assert new[0].startswith("the map is new: nobody takes from it for 17 s")
    assert report("harbour", "d", [led], NOW).waits == [
        "old_1 leads harbour: members wait until it has ended"
    ]
    assert "stop every replica" in report("harbour", "d", [damaged], NOW).waits[0]
    assert report("harbour", "d", [member("a")], NOW).waits == [
        "there is no map in Lease harbour: a member that is ready makes one"
    ]


@pytest.mark.parametrize("text", [None, "", "yesterday"])
def test_a_lease_that_says_no_time_is_silent(text: str | None) -> None:
    lease = Lease(
        metadata=ObjectMeta(name="harbour-a"),
        spec=LeaseSpec(holder_identity="pod_1", renew_time=text),
    )
    (found,) = report("harbour", "default", [lease], NOW).members

    assert (found.state, found.renewed_seconds) == ("silent", None)
    assert members_table(report("harbour", "default", [lease], NOW))[1][0][6] == "never"


def test_an_object_is_placed_in_each_of_the_ways_in_which_keys_are_divided() -> None:
    by_key, by_namespace, single = places(SHARED, Request("s1", "sea"))
    number = range_of(Request("s1", "sea"), 8)

    assert by_key.range == str(number)
    assert by_key.member == ("a" if number < 4 else "b")
    assert by_namespace.range == str(range_of(Request("", "sea"), 8))
    assert (single.range, single.member, single.epoch) == ("leader", "a", 5)
    assert places(ShardMap("x", 8), Request("s1", "sea"))[0].member == ""
