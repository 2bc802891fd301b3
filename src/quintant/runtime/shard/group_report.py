"""What the Leases of a group say about it, for a person who looks: members, ranges, and what waits.

Pure, from what anybody may read. Ages compare our clock with a member's, so they are for people,
and nothing is decided by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from quintant.api.coordination import Lease
from quintant.core.clock import find_timestamp
from quintant.core.object import Request
from quintant.runtime.leader.lease import ObservedLease
from quintant.runtime.shard.group_lease import GroupLease, GroupState, read_group
from quintant.runtime.shard.layout import (
    LEADER,
    ShardKey,
    by_key,
    by_namespace,
    range_name,
    range_names,
    range_of,
)
from quintant.runtime.shard.member import LAYOUT, STATE
from quintant.runtime.shard.plan import MEMBER_SECONDS
from quintant.runtime.shard.shard_map import RangeHolder, ShardMap

ENDED, SILENT, MISSING = "ended", "silent", "missing"


class MemberReport(Struct, frozen=True, rename="camel"):
    """One member, as its Lease and the map show it."""

    id: str
    process: str
    """The pod, or the machine's name, and what tells its processes apart."""
    state: str
    """ready, starting, leaving; silent, ended; missing if the map names it and no Lease does."""
    layout: str
    renewed_seconds: float | None
    held: dict[str, int]
    """Epochs by range."""


class GroupReport(Struct, frozen=True, rename="camel"):
    """A group."""

    name: str
    namespace: str
    ranges: int
    layout: str
    free: list[str]
    members: list[MemberReport]
    waits: list[str]
    """What keeps ranges from moving, or from being worked on."""


def report(name: str, namespace: str, leases: Iterable[Lease], now: datetime) -> GroupReport:
    """What the Leases of a group say; the group's own is the one that is called as the group is."""
    named = {lease.metadata.name: lease for lease in leases}
    own = named.pop(name, None)
    group = read_group(ObservedLease(own, 0.0) if own is not None else None, 0.0)
    shards = group.shards or ShardMap("", 0)
    ours = {key.removeprefix(f"{name}-"): lease for key, lease in named.items()}
    members = [_member(id, lease, shards, now) for id, lease in sorted(ours.items())]
    members += [_missing(id, shards) for id in sorted(shards.holders() - ours.keys())]
    free = [range_name(number) for number in shards.free()] if group.shards is not None else []
    waits = [*_about_map(name, group), *_about_members(shards, members)]
    return GroupReport(name, namespace, shards.ranges, shards.layout, free, members, waits)


class KeyReport(Struct, frozen=True, rename="camel"):
    """Where a key is, if controllers are divided in one of the ways there are."""

    divided: str
    range: str
    member: str
    """Empty if nobody holds the range."""
    epoch: int


def places(shards: ShardMap, key: Request) -> list[KeyReport]:
    """Where a key is, by itself and by its namespace."""
    ways: Sequence[tuple[str, ShardKey]] = (("by key", by_key), ("by namespace", by_namespace))
    found = [(way, range_of(shard_key(key), shards.ranges)) for way, shard_key in ways]
    found.append(("single", LEADER))
    nobody = RangeHolder("", 0)
    held = [(way, number, shards.held.get(number, nobody)) for way, number in found]
    return [KeyReport(way, range_name(n), holder.member, holder.epoch) for way, n, holder in held]


def members_table(group: GroupReport) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A heading, and a line for each member."""
    heading = ("MEMBER", "PROCESS", "STATE", "RANGES", "LEADER", "EPOCHS", "RENEWED", "LAYOUT")
    return heading, [_line(member) for member in group.members]


def _line(member: MemberReport) -> tuple[str, ...]:
    leads = range_name(LEADER) in member.held
    epochs = sorted(set(member.held.values()))
    spread = "-".join(str(each) for each in dict.fromkeys((*epochs[:1], *epochs[-1:])))
    age = f"{member.renewed_seconds:.0f}s ago" if member.renewed_seconds is not None else "never"
    return (
        *(member.id, member.process or "-", member.state, str(len(member.held) - leads)),
        *("yes" if leads else "", spread or "-", age, member.layout or "-"),
    )


def _member(id: str, lease: Lease, shards: ShardMap, now: datetime) -> MemberReport:
    notes, spec = lease.metadata.annotations, lease.spec
    age = _age(spec.renew_time, now)
    state = notes.get(STATE, "") or "starting"
    if not spec.holder_identity:
        state = ENDED
    elif age is None or age > MEMBER_SECONDS:
        state = SILENT
    held = _held(id, shards)
    return MemberReport(id, spec.holder_identity or "", state, notes.get(LAYOUT, ""), age, held)


def _missing(id: str, shards: ShardMap) -> MemberReport:
    return MemberReport(id, "", MISSING, "", None, _held(id, shards))


def _held(id: str, shards: ShardMap) -> dict[str, int]:
    return {range_name(number): epoch for number, epoch in sorted(shards.epochs(id).items())}


def _age(renewed: str | None, now: datetime) -> float | None:
    at = find_timestamp(renewed or "")
    return max(0.0, (now - at).total_seconds()) if at is not None else None


def _about_map(name: str, group: GroupLease) -> Iterator[str]:
    shards = group.shards
    match group.state:
        case GroupState.ABSENT:
            yield f"there is no map in Lease {name}: a member that is ready makes one"
        case GroupState.FOREIGN:
            assert group.lease is not None, "somebody holds it"
            holder = group.lease.spec.holder_identity
            yield f"{holder} leads {name}: members wait until it has ended"
        case GroupState.UNREADABLE:
            yield (
                f"the map in Lease {name} cannot be read, for {group.why}: "
                "stop every replica, delete that Lease, and start them again"
            )
        case _:
            assert shards is not None, "there is a map"
            if not shards.proven:
                yield f"the map is new: nobody takes from it for {MEMBER_SECONDS:.0f} s"
            if shards.free():
                yield f"no member holds {range_names(shards.free())}"


def _about_members(shards: ShardMap, members: Iterable[MemberReport]) -> Iterator[str]:
    for member in members:
        held = f"{len(member.held)} ranges"
        if member.state in (SILENT, MISSING) and member.held:
            yield f"{member.id} is {member.state} and holds {held}: it is buried after 17 s"
        elif member.state == ENDED and member.held:
            yield f"{member.id} has ended and holds {held}: they may be taken"
        elif member.state == "leaving" and member.held:
            yield f"{member.id} is leaving and holds {held}: /readyz?verbose and its log say why"
        elif shards.layout and member.layout not in ("", shards.layout) and member.state != ENDED:
            yield f"{member.id} has another layout: it waits until no range is held"
