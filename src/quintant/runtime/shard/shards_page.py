"""The page /shards beside a member's metrics: its ranges, their keys, and what goes on, as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from quintant.runtime.controller.controller import Controller
from quintant.runtime.shard.coordinator import Coordinator
from quintant.runtime.shard.layout import range_name
from quintant.runtime.shard.shard_metrics import MOST_KEYS


class RangeEntry(Struct, rename="camel"):
    """A range of this member."""

    range: str
    """Its number, or `leader`."""
    state: str
    epoch: int
    keys: int
    """How many are known of all controllers."""
    under_way: list[str]
    """Keys that are worked on, the first of them."""


class MemberEntry(Struct, rename="camel"):
    """This member, and what it has."""

    group: str
    member: str
    layout: str
    ranges: int
    """How many there are in all, beside that of the leader."""
    may_write: bool
    """Whether its Lease was renewed in time."""
    trouble: str
    """What keeps ranges from moving; empty if nothing does."""
    held: list[RangeEntry]


async def shards_page(
    coordinator: Coordinator, controllers: Sequence[Controller[Any]], path: str
) -> bytes | None:
    """What /shards shows; nothing is below it."""
    if path:
        return None
    return msgspec.json.encode(member_entry(coordinator, controllers))


def member_entry(coordinator: Coordinator, controllers: Sequence[Controller[Any]]) -> MemberEntry:
    """A member as it is now."""
    owned, group = coordinator.owned, coordinator.group
    keys = Counter(
        owned.range_of(controller.name, key)
        for controller in controllers
        for key in controller.known_keys()
    )
    held = [
        RangeEntry(
            range_name(number),
            state.name.lower(),
            owned.epochs.get(number, 0),
            keys[number],
            owned.under_way(number)[:MOST_KEYS],
        )
        for number, state in sorted(owned.states.items())
    ]
    return MemberEntry(
        group.name,
        coordinator.id,
        group.layout,
        group.ranges,
        owned.is_open(),
        coordinator.trouble(),
        held,
    )
