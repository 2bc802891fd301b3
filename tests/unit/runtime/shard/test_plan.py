from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintant.runtime.shard.layout import LEADER
from quintant.runtime.shard.plan import (
    FREE_SECONDS,
    MEMBER_SECONDS,
    MOST_QUIET_SECONDS,
    QUIET_SECONDS,
    GroupView,
    MemberView,
    Plan,
    counted_members,
    next_death,
    plan,
    quotas,
)
from quintant.runtime.shard.shard_map import ShardMap

EMPTY = ShardMap("x", 8, proven=True)
LONG_AGO = -1000.0


def member(name: str, **changes: object) -> MemberView:
    return MemberView(**{"name": name, "since": 100.0, "layout": "x", **changes})  # type: ignore[arg-type]


def view(shards: ShardMap = EMPTY, *others: MemberView, **changes: object) -> GroupView:
    given: dict[str, object] = {
        "shards": shards,
        "members": (member("me"), *others),
        "me": "me",
        "now": 100.0,
        "renewing_since": LONG_AGO,
    }
    return GroupView(**{**given, **changes})  # type: ignore[arg-type]


@given(st.sets(st.text(min_size=1, max_size=5), min_size=1, max_size=40), st.sampled_from([8, 128]))
def test_quotas_add_up_and_differ_by_one_at_most(names: set[str], ranges: int) -> None:
    shares = quotas(names, ranges)

    assert sum(shares.values()) == ranges
    assert max(shares.values()) - min(shares.values()) <= 1
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


def test_a_member_alone_takes_everything() -> None:
    assert plan(view()).take == (LEADER, *range(8))


def test_a_member_takes_its_quota_and_leaves_the_rest() -> None:
    found = plan(view(EMPTY, member("you")))

    assert found == Plan(take=(LEADER, 0, 1, 2, 3))


def test_the_first_by_name_takes_the_leader() -> None:
    assert LEADER not in plan(view(EMPTY, member("a"))).take


def test_what_is_free_for_long_is_taken_by_whoever_sees_it() -> None:
    since = {5: 100 - FREE_SECONDS, 6: 101 - FREE_SECONDS, LEADER: 100 - FREE_SECONDS}

    assert plan(view(EMPTY, member("a"), free_since=since)).take == (LEADER, 0, 1, 2, 3, 5)


def test_a_member_above_its_quota_gives_a_quarter_at_a_time() -> None:
    shards = EMPTY.taken(range(8), "me", 5)

    assert len(plan(view(shards, member("you"))).give) == 2


def test_idle_ranges_are_given_first() -> None:
    shards = EMPTY.taken(range(8), "me", 5)

    assert plan(view(shards, member("you"), order=(6, 3, 0))).give == (6, 3)


def test_nothing_more_is_given_while_a_quarter_is_on_its_way() -> None:
    shards = EMPTY.taken(range(8), "me", 5)

    assert plan(view(shards, member("you"), draining=frozenset({6, 3}))).give == ()


def test_nothing_is_given_while_nobody_is_below_its_quota() -> None:
    shards = EMPTY.taken(range(4), "you", 5).taken(range(4, 8), "me", 6)

    assert plan(view(shards, member("you"))) == Plan(take=(LEADER,))


def test_who_leaves_gives_everything_and_takes_nothing() -> None:
    shards = EMPTY.taken([1, 2, LEADER], "me", 5)
    leaving = (member("me", leaving=True), member("you"))

    assert plan(view(shards, members=leaving)) == Plan(give=(1, 2, LEADER))


@pytest.mark.parametrize(
    ("changes", "dead"),
    [
        ({}, True),
        ({"since": 100.1 - MEMBER_SECONDS}, False),
        ({"ended": True}, False),
    ],
)
def test_a_member_whose_lease_did_not_change_is_buried(
    changes: dict[str, object], dead: bool
) -> None:
    silent = member("you", **{"since": 100 - MEMBER_SECONDS, **changes})

    assert plan(view(EMPTY, silent)).bury == (("you",) if dead else ())


def test_who_is_silent_is_looked_at_again_in_the_moment_in_which_it_is_over() -> None:
    silent, lively = member("you", since=90.0), member("she", since=99.0)

    assert next_death(view(EMPTY, silent, lively)) == MEMBER_SECONDS - 10
    assert next_death(view(EMPTY, silent, lively, now=90 + MEMBER_SECONDS)) == 9.0
    assert next_death(view(EMPTY, member("you", ended=True))) == math.inf


def test_silence_during_an_outage_of_our_own_buries_nobody() -> None:
    silent = member("you", since=LONG_AGO)

    assert plan(view(EMPTY, silent, renewing_since=90.0)).bury == ()


def test_ranges_of_a_silent_member_are_not_taken_before_it_is_buried() -> None:
    shards = EMPTY.taken(range(LEADER, 8), "you", 5)
    silent = member("you", since=LONG_AGO)

    assert plan(view(shards, silent)) == Plan(bury=("you",))
    assert plan(view(shards, member("you", ended=True))).take == (LEADER, *range(8))


def test_ranges_of_a_member_without_a_lease_are_taken_when_it_was_missing_for_long() -> None:
    shards = EMPTY.taken(range(LEADER, 8), "you", 5)
    missing = member("you", present=False)

    assert plan(view(shards, missing)).take == ()
    assert plan(view(shards, missing, now=100 + MEMBER_SECONDS)).take == (LEADER, *range(8))


def test_leases_of_members_that_ended_go_once_they_hold_nothing() -> None:
    ended = member("you", ended=True)

    assert plan(view(EMPTY, ended)).forget == ("you",)
    assert plan(view(EMPTY.taken([1], "you", 5), ended)).forget == ()


@pytest.mark.parametrize(
    ("joined", "now", "counted"),
    [
        ((100.0,), 100 + QUIET_SECONDS - 0.1, 0),
        ((100.0,), 100 + QUIET_SECONDS, 1),
        ((100.0, 104.0), 100 + QUIET_SECONDS, 0),
        ((100.0, 104.0), 104 + QUIET_SECONDS, 2),
        ((100.0, 106.0), 107.0, 1),
        (tuple(100.0 + 4 * n for n in range(8)), 100 + MOST_QUIET_SECONDS, 1),
    ],
)
def test_members_that_join_count_when_no_other_one_has_joined_for_a_while(
    joined: tuple[float, ...], now: float, counted: int
) -> None:
    others = [member(f"m{n}", joined=at, since=now) for n, at in enumerate(joined)]

    assert len(counted_members(view(EMPTY, *others, now=now))) == 1 + counted


@pytest.mark.parametrize(
    "changes", [{"ready": False}, {"leaving": True}, {"layout": "y"}, {"present": False}]
)
def test_only_members_that_can_work_count(changes: dict[str, object]) -> None:
    assert counted_members(view(EMPTY, member("you", **changes))) == {"me"}


def test_members_of_another_layout_wait_until_no_range_is_held() -> None:
    other = (member("me", layout="y"),)
    held = EMPTY.taken([1], "you", 5)

    assert plan(view(held, members=(*other, member("you")))) == Plan()
    assert plan(view(EMPTY, members=(*other, member("you")))) == Plan()
    assert plan(view(EMPTY, members=other)) == Plan(swap=True)


@pytest.mark.parametrize(
    ("changes", "since", "taken"),
    [
        ({"map_id": "i"}, 100 - MEMBER_SECONDS, True),
        ({"map_id": "i"}, 101 - MEMBER_SECONDS, False),
        ({"map_id": "before"}, LONG_AGO, False),
        ({"map_id": "before", "ended": True}, LONG_AGO, True),
    ],
)
def test_a_new_map_is_taken_from_once_nobody_can_work_by_another(
    changes: dict[str, object], since: float, taken: bool
) -> None:
    new = ShardMap("x", 8, id="i")

    assert bool(plan(view(new, member("you", **changes), map_since=since)).take) == taken


@dataclass
class Group:
    """Members that see everything at once, and act one after the other."""

    random: Random
    ranges: int
    shards: ShardMap
    names: set[str] = field(default_factory=set)
    moves: int = 0
    now: float = 0.0
    free: dict[int, float] = field(default_factory=dict)

    def turn(self) -> None:
        """Everybody plans once, in some order; what is given is released by the next turn."""
        self.now += 1.0
        for name in self.random.sample(sorted(self.names), len(self.names)):
            self._note_free()
            members = tuple(
                MemberView(each, self.now, joined=LONG_AGO, layout="x") for each in self.names
            )
            found = plan(
                GroupView(
                    self.shards, members, name, self.now, LONG_AGO, free_since=dict(self.free)
                )
            )
            taken = self.shards.taken(found.take, name, int(self.now))
            self.shards = taken.released(found.give, name)
            self.moves += len(found.take)

    def leave(self, name: str) -> None:
        self.names.discard(name)
        self.shards = self.shards.released(self.shards.numbers, name)

    def _note_free(self) -> None:
        free = self.shards.free()
        self.free = {number: self.free.get(number, self.now) for number in free}


@settings(max_examples=25)
@given(st.randoms(use_true_random=False), st.sampled_from([8, 128]))
def test_any_group_ends_at_its_quotas_and_then_moves_nothing(random: Random, ranges: int) -> None:
    group = Group(random, ranges, ShardMap("x", ranges, proven=True))
    for step in range(random.randint(1, 6)):
        if len(group.names) > 1 and random.random() < 0.4:
            group.leave(random.choice(sorted(group.names)))
        else:
            group.names.add(f"m{step}")
        for _ in range(random.randint(0, 10)):
            group.turn()
    for _ in range(40):
        group.turn()
    counts = [len({*group.shards.epochs(name)} - {LEADER}) for name in group.names]
    moves = group.moves
    for _ in range(20):
        group.turn()

    assert group.shards.free() == []
    assert max(counts) - min(counts) <= 1
    assert group.moves == moves


def test_a_member_that_joins_moves_its_share_and_no_range_twice() -> None:
    group = Group(Random(1), 128, ShardMap("x", 128, proven=True), {"a", "b"})
    for _ in range(10):
        group.turn()
    group.moves = 0
    group.names.add("c")
    for _ in range(40):
        group.turn()

    assert group.moves == 42
