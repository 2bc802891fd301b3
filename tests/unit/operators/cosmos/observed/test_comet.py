"""What is known of a node: unknown is not unreachable, and one lost answer is neither."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from quintant.operators.cosmos.observed.comet import (
    CometItem,
    SyncState,
    answered,
    failed,
    state_of,
)
from quintant.wire.comet import CometStatus

START = datetime(2026, 1, 1, tzinfo=UTC)
UP, BEHIND = CometStatus("hub", 7, False), CometStatus("hub", 7, True)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def test_nobody_is_known_before_he_was_asked() -> None:
    assert state_of(None) is SyncState.UNKNOWN


def test_an_answer_says_whether_a_node_is_in_sync() -> None:
    assert answered(None, UP, "hub", at(0)).state is SyncState.IN_SYNC
    assert answered(None, BEHIND, "hub", at(0)).state is SyncState.CATCHING_UP


def test_a_node_is_unreachable_after_several_failures_over_a_while() -> None:
    item: CometItem | None = answered(None, UP, "hub", at(0))
    states = []
    for moment in (5, 10, 15, 20):
        item = failed(item, "refused", at(moment))
        states.append(item.state)
    assert states == [
        SyncState.SILENT,
        SyncState.SILENT,
        SyncState.UNREACHABLE,
        SyncState.UNREACHABLE,
    ]
    assert item is not None
    assert item.status == UP
    assert item.height is None
    assert answered(item, UP, "hub", at(25)).state is SyncState.IN_SYNC


def test_failures_at_one_moment_are_no_proof() -> None:
    item = failed(failed(None, "refused", at(0)), "refused", at(0))
    assert item.state is SyncState.SILENT


def test_a_node_of_another_chain_is_never_in_sync() -> None:
    item = answered(None, UP, "osmosis", at(0))
    assert item.state is SyncState.SILENT
    assert item.error == "it is a node of hub"


def test_a_height_is_as_old_as_our_own_clock_says() -> None:
    first = answered(None, UP, "hub", at(0))
    again = answered(first, UP, "hub", at(60))
    assert again.advanced_at == at(0)
    assert answered(again, CometStatus("hub", 8, False), "hub", at(65)).advanced_at == at(65)
