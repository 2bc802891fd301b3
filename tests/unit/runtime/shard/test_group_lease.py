from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quintant.api.coordination import Lease, LeaseSpec
from quintant.core.object import ObjectMeta
from quintant.runtime.leader.lease import ObservedLease
from quintant.runtime.shard.group_lease import (
    GROUP_SECONDS,
    HOLDER,
    MAP,
    GroupLease,
    GroupState,
    first_map,
    group_lease,
    group_spec,
    read_group,
    version_of,
)
from quintant.runtime.shard.shard_map import ShardMap, UnreadableMap, encode_map

EMPTY = ShardMap("x", 8, id="new")
LEFT = ShardMap("x", 8, id="left", proven=True)
HELD = LEFT.taken([1], "one", 5)


def lease(holder: str | None = HOLDER, text: str = "", seconds: int | None = None) -> Lease:
    meta = ObjectMeta(name="harbour", namespace="default", annotations={MAP: text} if text else {})
    return Lease(
        metadata=meta, spec=LeaseSpec(holder_identity=holder, lease_duration_seconds=seconds)
    )


def read(found: Lease, now: float = 0.0) -> GroupLease:
    return read_group(ObservedLease(found, since=0.0), now)


def test_no_lease_is_anybodys_to_make() -> None:
    assert read_group(None, 0) == GroupLease(GroupState.ABSENT)


@pytest.mark.parametrize("holder", ["", None])
def test_a_lease_that_nobody_holds_may_be_taken(holder: str | None) -> None:
    assert read(lease(holder, "{")).state is GroupState.ABSENT


@pytest.mark.parametrize(("seconds", "lasts"), [(15, 15.0), (None, float(GROUP_SECONDS))])
def test_a_leader_is_waited_for_as_long_as_its_lease_lasts(
    seconds: int | None, lasts: float
) -> None:
    led = lease("old_1", seconds=seconds)

    assert read(led, lasts - 0.1).state is GroupState.FOREIGN
    assert read(led, lasts).state is GroupState.ABSENT


def test_a_group_without_a_map_gets_one_and_one_with_damage_is_left_as_it_is() -> None:
    assert read(lease()).state is GroupState.ABSENT
    damaged = read(lease(text="{"))

    assert damaged.state is GroupState.UNREADABLE
    assert damaged.why


def test_a_group_with_a_map_is_ours_however_old_it_is() -> None:
    found = read(lease(text=encode_map(HELD)), now=10**6)

    assert (found.state, found.shards) == (GroupState.OURS, HELD)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (None, EMPTY),
        (lease("", encode_map(LEFT)), LEFT),
        (lease("", encode_map(HELD)), EMPTY),
        (lease("", encode_map(ShardMap("y", 8))), EMPTY),
        (lease("", "{"), EMPTY),
        (lease("", ""), EMPTY),
        (lease(HOLDER, encode_map(LEFT)), EMPTY),
    ],
)
def test_the_first_map_is_the_one_that_was_left_if_that_can_be_gone_on_with(
    found: Lease | None, wanted: ShardMap
) -> None:
    assert first_map(GroupLease(GroupState.ABSENT, found), EMPTY) == wanted


def test_what_the_group_writes_it_reads() -> None:
    written = group_lease("harbour", "default", HELD, group_spec(datetime(2026, 1, 1, tzinfo=UTC)))

    assert read(written).shards == HELD
    assert written.metadata.labels == {"quintant.dev/manager": "harbour"}


@pytest.mark.parametrize("version", ["", "0", "abc", "-1", "1.5", "9" * 5000])
def test_a_server_that_does_not_count_has_no_epochs(version: str) -> None:
    with pytest.raises(UnreadableMap, match="no number"):
        version_of(Lease(metadata=ObjectMeta(name="harbour", resource_version=version)))


def test_the_epoch_is_the_version() -> None:
    assert version_of(Lease(metadata=ObjectMeta(name="harbour", resource_version="41"))) == 41
