"""The group's Lease: the one that leader election uses, held by `shards`, with the map in it.

So a leader of a version without shards is waited for, and waits. It is renewed by whoever saw no
change for 20 to 25 s, and each change of the map renews it, too. A member whose view of it is older
than 30 s writes nothing: before 60 s are over, which is when a leader may claim it.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum, auto

from msgspec import Struct
from msgspec.structs import replace

from quintant.api.coordination import Lease, LeaseSpec
from quintant.core.clock import micro_timestamp
from quintant.core.object import ObjectMeta
from quintant.runtime.leader.lease import ObservedLease
from quintant.runtime.shard.member import MANAGER
from quintant.runtime.shard.shard_map import ShardMap, UnreadableMap, decode_map, encode_map
from quintant.wire.digits import parse_digits

HOLDER = "shards"
GROUP_SECONDS = 60
RENEW_AFTER_SECONDS = (20.0, 25.0)
SEEN_SECONDS = 30.0
MAP = "quintant.dev/shard-map"


class ShardGroup(Struct, frozen=True):
    """Which group a process belongs to."""

    name: str
    layout: str
    """The digest of its layout."""
    ranges: int
    grace: float
    """Seconds that reconciles get to end before they are cancelled."""


class GroupState(Enum):
    """What the group's Lease is to a member."""

    ABSENT = auto()
    """There is none, or none that anybody holds, or its holder let it run out: it may be taken."""
    FOREIGN = auto()
    """A leader holds it."""
    UNREADABLE = auto()
    """It is the group's, and its map cannot be read: nothing is taken and nothing overwritten."""
    OURS = auto()
    """It is the group's, and there is a map."""


class GroupLease(Struct, frozen=True):
    """The Lease as it was read, and what it means."""

    state: GroupState
    lease: Lease | None = None
    shards: ShardMap | None = None
    why: str = ""
    """What is wrong with the map."""


def read_group(observed: ObservedLease | None, now: float) -> GroupLease:
    """What a Lease means that was first seen in this version then."""
    if observed is None:
        return GroupLease(GroupState.ABSENT)
    lease, holder = observed.lease, observed.lease.spec.holder_identity
    if holder != HOLDER:
        over = not holder or now >= observed.expires(GROUP_SECONDS)
        return GroupLease(GroupState.ABSENT if over else GroupState.FOREIGN, lease)
    text = lease.metadata.annotations.get(MAP, "")
    if not text:
        return GroupLease(GroupState.ABSENT, lease)
    try:
        return GroupLease(GroupState.OURS, lease, decode_map(text))
    except UnreadableMap as error:
        return GroupLease(GroupState.UNREADABLE, lease, why=str(error))


def first_map(group: GroupLease, empty: ShardMap) -> ShardMap:
    """The map to begin with: the one that the last member left, if it holds nothing, or another."""
    lease = group.lease
    if lease is None or lease.spec.holder_identity == HOLDER:
        return empty  # a map was there, and is not known any more
    try:
        left = decode_map(lease.metadata.annotations.get(MAP, ""))
    except UnreadableMap:
        return empty
    return empty if left.held or left.layout != empty.layout else left


def unused_group(name: str, namespace: str, empty: ShardMap) -> Lease:
    """A Lease as the last member leaves it: who comes first need not wait until others are over.

    For a cluster in which the program has never run.
    """
    shards = replace(empty, proven=True)
    return group_lease(name, namespace, shards, LeaseSpec(holder_identity=""))


def group_lease(name: str, namespace: str, shards: ShardMap, spec: LeaseSpec) -> Lease:
    """The Lease with a map."""
    meta = ObjectMeta(
        name=name,
        namespace=namespace,
        labels={MANAGER: name},
        annotations={MAP: encode_map(shards)},
    )
    return Lease(metadata=meta, spec=spec)


def group_spec(now: datetime) -> LeaseSpec:
    """The record of a Lease that the group renews now."""
    return LeaseSpec(
        holder_identity=HOLDER,
        lease_duration_seconds=GROUP_SECONDS,
        renew_time=micro_timestamp(now),
    )


def version_of(lease: Lease) -> int:
    """The version of a Lease as an epoch; UnreadableMap if the server does not count."""
    version = parse_digits(lease.metadata.resource_version)
    if not version:
        raise UnreadableMap("its resourceVersion is no number, so there are no epochs")
    return version
