"""The shard map: which member holds which range, and since which epoch; in one annotation.

A range has one holder, because there is one map, and it is replaced only on top of the version it
was read in. The epoch of a holding is that version: the resourceVersion on top of which the range
was taken. It only grows, also over a map that was deleted. Pure; what is read was written by
others, and an unreadable map is never overwritten.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec import Struct, field
from msgspec.structs import replace

from quintant.runtime.shard.layout import LEADER, is_range_count
from quintant.wire.digits import parse_digits
from quintant.wire.foreign import MalformedInput, decode_json

VERSION = 1
"""Of the annotation's text."""
LEADER_NAME = "leader"
# 1,025 ranges, each with the longest epoch, and the names of their holders.
MOST_BYTES = 128 * 1024
LATEST_MAPS = 4
"""Texts whose maps are remembered: where nothing moves, a member reads the same one every turn."""


class RangeHolder(Struct, frozen=True):
    """Who holds a range, and since which epoch."""

    member: str
    epoch: int


class ShardMap(Struct, frozen=True):
    """Every range that is held; all others are free."""

    layout: str
    """The digest of the layout that ranges are counted by."""
    ranges: int
    """How many there are beside `leader`."""
    held: Mapping[int, RangeHolder] = field(default_factory=dict)
    id: str = ""
    """Another one for every map that was begun anew: its ranges may be those of a lost map."""
    proven: bool = False
    """Whether everybody who may have worked by a map before this one is known to be over."""

    @property
    def numbers(self) -> list[int]:
        """Every range, `leader` first."""
        return [LEADER, *range(self.ranges)]

    def free(self) -> list[int]:
        """The ranges that no member holds."""
        return [number for number in self.numbers if number not in self.held]

    def epochs(self, member: str) -> dict[int, int]:
        """The ranges that a member holds, and their epochs."""
        return {
            number: holding.epoch
            for number, holding in self.held.items()
            if holding.member == member
        }

    def holders(self) -> set[str]:
        """Every member that holds a range."""
        return {holding.member for holding in self.held.values()}

    def taken(self, ranges: Iterable[int], member: str, epoch: int) -> ShardMap:
        """The map after a member took ranges on top of the version `epoch`."""
        return replace(
            self, held={**self.held, **dict.fromkeys(ranges, RangeHolder(member, epoch))}
        )

    def released(self, ranges: Iterable[int], member: str) -> ShardMap:
        """The map after a member released those of the ranges that it holds."""
        gone = {number for number in ranges if self._is_held_by(number, member)}
        held = {number: holding for number, holding in self.held.items() if number not in gone}
        return replace(self, held=held)

    def _is_held_by(self, number: int, member: str) -> bool:
        holding = self.held.get(number)
        return holding is not None and holding.member == member


class UnreadableMap(ValueError):
    """An annotation that is no shard map; the text says why, and quotes none of it."""


class _Wire(Struct, frozen=True):
    """The annotation's text: members by number, so that each name is written once."""

    version: int
    layout: str
    ranges: int
    id: str
    proven: bool
    members: list[str]
    held: dict[str, tuple[int, int]]


def encode_map(shards: ShardMap) -> str:
    """The text of the annotation: the same for the same map."""
    members = sorted(shards.holders())
    numbers = {member: number for number, member in enumerate(members)}
    held = {
        LEADER_NAME if number == LEADER else str(number): [numbers[of.member], of.epoch]
        for number, of in sorted(shards.held.items())
    }
    return json.dumps(
        {
            "version": VERSION,
            "layout": shards.layout,
            "ranges": shards.ranges,
            "id": shards.id,
            "proven": shards.proven,
            "members": members,
            "held": held,
        },
        separators=(",", ":"),
    )


@lru_cache(maxsize=LATEST_MAPS)
def decode_map(text: str) -> ShardMap:
    """The map in an annotation; UnreadableMap if there is none. As a rule it is the one before."""
    try:
        wire = decode_json(text, _Wire, most=MOST_BYTES)
    except MalformedInput as error:
        raise UnreadableMap(str(error)) from None
    if wire.version != VERSION:
        raise UnreadableMap(f"it is of version {wire.version}, and not {VERSION}")
    if not is_range_count(wire.ranges):
        raise UnreadableMap(f"it has {wire.ranges} ranges")
    held = {
        _number(name, wire.ranges): _holding(at, wire.members) for name, at in wire.held.items()
    }
    return ShardMap(wire.layout, wire.ranges, held, wire.id, wire.proven)


def _number(name: str, ranges: int) -> int:
    if name == LEADER_NAME:
        return LEADER
    number = parse_digits(name)
    # "07" would be a second name of range 7, and the range would have two holders.
    if number is None or number >= ranges or str(number) != name:
        raise UnreadableMap("it names a range that there is not")
    return number


def _holding(at: tuple[int, int], members: list[str]) -> RangeHolder:
    member, epoch = at
    if not 0 <= member < len(members) or not members[member]:
        raise UnreadableMap("a range is held by a member without a name")
    if epoch <= 0:
        raise UnreadableMap("a range is held since no epoch")
    return RangeHolder(members[member], epoch)
