"""What a member does next about the ranges: which it takes and gives, and whom it buries. Pure.

Every member plans for itself, from the map and from the Leases as it saw them. Quotas differ by one
at most and are counted from the sorted names, so that members with one view want nothing of each
other; while their views differ, the map's version lets one of them pass. Wrong plans cost time,
never safety: a range is taken only when it is free in the map, or when its holder is buried.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct, field

from quintant.runtime.shard.layout import LEADER
from quintant.runtime.shard.shard_map import ShardMap

MEMBER_SECONDS = 17.0
"""A Lease that did not change for so long, on a clock of which our own renewals succeeded, is
buried: 10 s of the fence, 5 s of a write under way, and 2 s for clocks that differ."""
QUIET_SECONDS = 5.0
"""Members that join count when no other one joined for so long: a rollout moves ranges once."""
MOST_QUIET_SECONDS = 30.0
"""Joins that do not end count after this long all the same."""
FREE_SECONDS = 10.0
"""A range that is free for longer is taken by whoever sees it, whatever its quota."""
GIVEN_SHARE = 4
"""At most one part in so many of the ranges held is given at a time."""


class MemberView(Struct, frozen=True):
    """Another member, or ourselves, as the Leases show it; times are the loop's."""

    name: str
    since: float
    """When its Lease was first seen in this version, or first seen to be missing."""
    joined: float = float("-inf")
    """When it was first seen to be ready."""
    ready: bool = True
    """Whether its caches are complete."""
    leaving: bool = False
    layout: str = ""
    present: bool = True
    """Whether it has a Lease."""
    ended: bool = False
    """Whether its Lease names no holder: it was buried, or has left."""
    map_id: str = ""
    """The map that it works by."""


class GroupView(Struct, frozen=True):
    """All that a plan is made from."""

    shards: ShardMap
    members: tuple[MemberView, ...]
    """Everybody with a Lease, and everybody whom the map names."""
    me: str
    now: float
    renewing_since: float
    """Since when our own renewals have succeeded without a gap: before, silence proves nothing."""
    map_since: float = float("-inf")
    """When this map was first seen."""
    free_since: Mapping[int, float] = field(default_factory=dict)
    """When each free range was first seen to be free."""
    draining: frozenset[int] = frozenset()
    """Ranges of ours that are being given already."""
    order: Sequence[int] = ()
    """Ranges of ours in the order in which they are best given: idle ones first."""


class Plan(Struct, frozen=True):
    """What to do now; all empty where nothing is to be done."""

    take: tuple[int, ...] = ()
    give: tuple[int, ...] = ()
    bury: tuple[str, ...] = ()
    """Members whose Leases are to be emptied, on top of the version seen."""
    forget: tuple[str, ...] = ()
    """Members that have ended and hold nothing: their Leases may go."""
    swap: bool = False
    """Put an empty map of our own layout in place: all members of the map's are gone."""


def quotas(members: Iterable[str], ranges: int) -> dict[str, int]:
    """How many ranges each member is to hold: the first ones, by name, have one more."""
    names = sorted(members)
    share, rest = divmod(ranges, len(names)) if names else (0, 0)
    return {name: share + (number < rest) for number, name in enumerate(names)}


def plan(view: GroupView) -> Plan:
    """What `view.me` does next."""
    counted = counted_members(view)
    mine = view.shards.epochs(view.me)
    bury = tuple(m.name for m in view.members if m.present and is_dead(m, view))
    forget = tuple(
        member.name
        for member in view.members
        if member.ended and member.present and member.name not in view.shards.holders()
    )
    if view.me not in counted:
        leaves = any(member.name == view.me and member.leaving for member in view.members)
        given = tuple(number for number in mine if number not in view.draining)
        return Plan(
            give=given if leaves else (), bury=bury, forget=forget, swap=_may_swap(view, counted)
        )
    wanted = quotas(counted, view.shards.ranges)
    return Plan(
        take=_taken(view, counted, wanted[view.me]) if is_proven(view) else (),
        give=_given(view, counted, wanted),
        bury=bury,
        forget=forget,
    )


def is_dead(member: MemberView, view: GroupView) -> bool:
    """Whether a member's Lease, or its absence, did not change for so long that it is over."""
    return dies_in(member, view) <= 0


def dies_in(member: MemberView, view: GroupView) -> float:
    """Seconds until a member is over if its Lease stays as it is."""
    if member.name == view.me or member.ended:
        return math.inf
    return MEMBER_SECONDS - (view.now - max(member.since, view.renewing_since))


def next_death(view: GroupView) -> float:
    """Seconds until the first of those that live is over, if its Lease stays as it is."""
    left = (dies_in(member, view) for member in view.members)
    return min((seconds for seconds in left if seconds > 0), default=math.inf)


def counted_members(view: GroupView) -> frozenset[str]:
    """The members that ranges are divided by: ready, of the map's layout, neither new nor going."""
    fit = [member for member in view.members if _is_fit(member, view)]
    settled = _settled([m.joined for m in fit if m.name != view.me], view.now)
    return frozenset(m.name for m in fit if m.name == view.me or m.joined in settled)


def available(view: GroupView) -> list[int]:
    """The ranges that may be taken: free ones, and those of members that are over."""
    over = {
        member.name
        for member in view.members
        if member.ended or (not member.present and is_dead(member, view))
    }
    held = view.shards.held
    return [n for n in view.shards.numbers if n not in held or held[n].member in over]


def unserved(view: GroupView) -> list[int]:
    """The ranges that no living member holds, whether they may be taken yet or not."""
    dead = {m.name for m in view.members if m.ended or is_dead(m, view)}
    held = view.shards.held
    return [n for n in view.shards.numbers if n not in held or held[n].member in dead]


def _is_fit(member: MemberView, view: GroupView) -> bool:
    return (
        member.present
        and member.ready
        and not member.leaving
        and not member.ended
        and member.layout == view.shards.layout
        and not is_dead(member, view)
    )


def is_proven(view: GroupView) -> bool:
    """Whether nobody can still work by a map before this one.

    Such a one has a Lease that names the other map, or has none: it then knows after 17 s at most.
    """
    if view.shards.proven:
        return True
    others = any(
        member.present and not member.ended and member.map_id != view.shards.id
        for member in view.members
        if member.name != view.me
    )
    return not others and view.now - view.map_since >= MEMBER_SECONDS


def _may_swap(view: GroupView, counted: frozenset[str]) -> bool:
    """Whether no range is held and no member of the map's layout is left, and we have another."""
    ours = [m for m in view.members if m.name == view.me and m.ready and not m.leaving]
    other = any(m.layout != view.shards.layout for m in ours)
    fit = counted or any(_is_fit(member, view) for member in view.members)
    return other and not fit and len(available(view)) == len(view.shards.numbers)


def _settled(joined: list[float], now: float) -> set[float]:
    """The joins that count: those before a time of quiet, and those of long ago."""
    times = sorted(set(joined))
    ends = {times[-1]} if times and now - times[-1] >= QUIET_SECONDS else set()
    ends |= {before for before, after in pairwise(times) if after - before >= QUIET_SECONDS}
    last = max(ends, default=float("-inf"))
    return {at for at in times if at <= last or now - at >= MOST_QUIET_SECONDS}


def _taken(view: GroupView, counted: frozenset[str], quota: int) -> tuple[int, ...]:
    found = available(view)
    stale = {n for n in found if view.now - view.free_since.get(n, view.now) >= FREE_SECONDS}
    first = min(counted) == view.me
    wanted = [LEADER] if LEADER in found and (first or LEADER in stale) else []
    numbers = [number for number in found if number != LEADER]
    held = sum(number != LEADER for number in view.shards.epochs(view.me))
    below = numbers[: max(0, quota - held)]
    return (*wanted, *below, *(n for n in numbers if n in stale and n not in below))


def _given(view: GroupView, counted: frozenset[str], wanted: Mapping[str, int]) -> tuple[int, ...]:
    mine = [number for number in view.shards.epochs(view.me) if number != LEADER]
    above = len(mine) - wanted[view.me]
    missing = sum(
        max(0, wanted[name] - sum(n != LEADER for n in view.shards.epochs(name)))
        for name in counted
        if name != view.me
    )
    at_once = max(1, len(mine) // GIVEN_SHARE)
    # What is free already, or on its way, is what those below quota take first.
    ready = len([number for number in available(view) if number != LEADER])
    count = min(above, missing - ready, at_once) - len(view.draining - {LEADER})
    order = [n for n in view.order if n in mine] + [n for n in mine if n not in view.order]
    return tuple([n for n in order if n not in view.draining][: max(0, count)])
