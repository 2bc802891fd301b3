"""What the checks of members mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.operators.klight.observed.answers import PeerHealth
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan import sweep
from quintant.wire.lightpeer import Timestamp
from quintant.wire.peeradmin import LastOrder, Member, MemberState, StatusResponse
from unit.operators.klight.plan.peers import peer

OPTIONS = Options(probe_interval=10.0, down_after=30.0)


@given(st.lists(st.sampled_from(PeerHealth), max_size=12))
def test_member_is_down_after_as_many_failed_checks_in_a_row_as_its_patience(
    looks: list[PeerHealth],
) -> None:
    member, misses, row = peer("p"), dict[str, int](), 0
    for health in looks:
        found = [(member, health)]
        misses = sweep.counted(misses, found)
        row = 0 if health.serves else row + 1
        assert misses == ({"p": row} if row else {})
        assert bool(sweep.down(misses, found, OPTIONS)) is (row >= 3)


@pytest.mark.parametrize(
    ("down_after", "interval", "checks"), [(30, 10, 3), (30, 20, 2), (5, 10, 1), (31, 10, 4)]
)
def test_patience_covers_the_time_a_member_may_be_away(
    down_after: float, interval: float, checks: int
) -> None:
    assert sweep.patience(down_after, interval) == checks


def test_member_that_is_down_is_named_with_what_was_found() -> None:
    (action,) = sweep.down({"p": 3}, [(peer("p"), PeerHealth.SILENT)], OPTIONS)
    assert (action.reason, action.backoff) == ("PeerDown", None)
    assert action.note == "p:9081 is not answering in time for 30 s; dropped"


def test_live_member_out_of_the_contacts_view_splits_off_in_the_second_sweep() -> None:
    contact, known, lost, gone = peer("c"), peer("s"), peer("l"), peer("g")
    members = (Member("s:9081"), Member("g:9081", state=MemberState.DOWN))
    missing: dict[str, int] = {}
    for number in (1, 2):
        status = StatusResponse("c:9081", members=members)
        missing = sweep.unseen(missing, [contact, known, lost, gone], contact, status)
        assert missing == {"l": number, "g": number}
    assert sweep.split_off(missing) == {"l", "g"}
    assert sweep.split_off({"l": 1}) == set()


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ({}, ""),
        ({"a": LastOrder(Timestamp(5))}, ""),
        ({"a": LastOrder(Timestamp(5), "no")}, "the last write at a failed: no"),
        ({"a": LastOrder(Timestamp(100), "no"), "b": LastOrder(Timestamp(50))}, ""),
        ({"a": LastOrder(Timestamp(500), "no"), "b": LastOrder(Timestamp(50))},
         "the last write at a failed: no"),
        ({"a": LastOrder(Timestamp(1), "old"), "b": LastOrder(Timestamp(2), "new")},
         "the last write at b failed: new"),
    ],
)  # fmt: skip
def test_nobody_can_write_if_no_write_succeeded_lately(
    orders: dict[str, LastOrder], message: str
) -> None:
    assert sweep.unwritable(orders) == message


def test_members_that_differ_twice_alike_have_two_chains() -> None:
    names = {"1": "d/p1", "2": "d/p2", "3": "d/p3"}
    now = {"1": b"x", "2": b"y", "3": b"x"}
    assert sweep.forked(now, now, names).endswith(": d/p2")
    assert sweep.forked({"1": b"x", "2": b"x", "3": b"x"}, now, names) == ""
    assert sweep.forked({}, now, names) == ""
    assert sweep.forked(now, {"1": b"z", "2": b"z", "3": b"z"}, names) == ""
