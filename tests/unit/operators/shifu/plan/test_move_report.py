"""Which moves are still to be reported: known from what is written, never from memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from quintant.core.object import ObjectMeta
from quintant.core.object import replace as changed
from quintant.operators.shifu.api.device import (
    EdgeDeviceSpec,
    EdgeDeviceStatus,
    PlacementStatus,
    UnreportedMove,
)
from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.observed.device_view import ShifuDevice
from quintant.operators.shifu.observed.placement import PlacementDecision, PlacementRequest
from quintant.operators.shifu.observed.views import ShifuDeployment
from quintant.operators.shifu.plan.device import EVACUATED, REJECTED, ROLLED_BACK, Choice
from quintant.operators.shifu.plan.move_report import (
    MOST_UNREPORTED,
    merge_unreported,
    moves_to_report,
)
from quintant.operators.shifu.rules.hints import resolve_hints

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DECISION = PlacementDecision("n2", "Memory", "the most")
BEFORE = ShifuDeployment(metadata=ObjectMeta(name="d", uid="d"), managed=True, node="n1")
AFTER = changed(
    BEFORE, node="n2", previous="n1", moved_for=EVACUATED, moves=1, reason="the most",
    placed_at="2025-12-31T00:00:00Z",
)  # fmt: skip
OLD = UnreportedMove(id="old", reason="Rescheduled", message="from n0 to n1: more")


def observed(
    deployment: ShifuDeployment, status: EdgeDeviceStatus, exclusive: str = "false"
) -> Observed:
    hints = {"shifu.edgenesis.io/exclusive": exclusive}
    device = ShifuDevice(
        metadata=ObjectMeta(name="a", namespace="devices", uid="u", annotations=hints),
        spec=EdgeDeviceSpec(protocol="HTTP", address="b:1"), status=status,
    )  # fmt: skip
    return Observed(
        device, resolve_hints(device), PlacementRequest(0), NOW, deployment=deployment
    )  # fmt: skip


def shown_on(node: str, *unreported: UnreportedMove, moves: int = 0) -> EdgeDeviceStatus:
    placement = PlacementStatus(node_name=node, moves=moves)
    return EdgeDeviceStatus(placement=placement, unreported_moves=unreported)


def test_a_move_that_the_status_does_not_tell_of_is_reported_whoever_began_it() -> None:
    (move,) = moves_to_report(observed(AFTER, shown_on("n1")), Choice("n2"))
    assert (move.reason, move.message) == ("Evacuated", "from n1 to n2: the most")
    assert move.at == AFTER.placed_at


def test_who_decided_a_move_and_who_finds_it_write_one_event() -> None:
    choice = Choice("n2", DECISION, EVACUATED, previous="n1")
    (decided,) = moves_to_report(observed(BEFORE, shown_on("n1"), "true"), choice)
    (found,) = moves_to_report(observed(AFTER, shown_on("n1"), "true"), Choice("n2"))
    assert decided.id == found.id
    assert decided.message == found.message
    again = changed(AFTER, moves=3)
    (later,) = moves_to_report(observed(again, shown_on("n1")), Choice("n2"))
    assert later.id != found.id


def test_an_evacuation_is_reported_after_all_have_left() -> None:
    choice = Choice("n2", DECISION, EVACUATED, previous="n1")
    assert moves_to_report(observed(BEFORE, shown_on("n1", OLD)), choice) == ()


def test_what_was_not_taken_before_comes_first() -> None:
    choice = Choice("n2", DECISION, REJECTED, previous="n1")
    moves = moves_to_report(observed(BEFORE, shown_on("n1", OLD)), choice)
    assert [each.reason for each in moves] == ["Rescheduled", "NodeRejected"]
    assert moves_to_report(observed(AFTER, shown_on("n2", OLD)), Choice("n2")) == (OLD,)


def test_nothing_is_left_where_all_is_told() -> None:
    assert moves_to_report(observed(AFTER, shown_on("n2")), Choice("n2")) == ()
    yields = replace(Choice("n2"), yields=True)
    assert moves_to_report(observed(AFTER, shown_on("n1")), yields) == ()


def test_a_move_that_was_taken_back_is_reported_whoever_took_it_back() -> None:
    choice = Choice("n1", replace(DECISION, node="n1"), ROLLED_BACK)
    (decided,) = moves_to_report(observed(AFTER, shown_on("n2", moves=1)), choice)
    back = changed(AFTER, node="n1", previous="", moved_for=choice.moved_for)
    (later,) = moves_to_report(observed(back, shown_on("n2", moves=1)), Choice("n1"))
    assert (later.id, later.message) == (decided.id, decided.message)
    assert moves_to_report(observed(back, shown_on("n1", moves=1)), Choice("n1")) == ()


def test_a_move_that_was_never_told_of_is_reported_with_the_next_one() -> None:
    choice = Choice("n1", replace(DECISION, node="n1"), ROLLED_BACK)
    moves = moves_to_report(observed(AFTER, shown_on("n1")), choice)
    assert [each.reason for each in moves] == ["Evacuated", "RolledBack"]
    back = changed(AFTER, node="n1", previous="", moved_for=choice.moved_for)
    (later,) = moves_to_report(observed(back, shown_on("n1")), Choice("n1"))
    assert later.id == moves[1].id


def test_what_another_wrote_meanwhile_is_kept_and_what_was_reported_is_not() -> None:
    newest, ours = shown_on("n1", OLD), shown_on("n2", changed(OLD, id="new"))
    left = merge_unreported(ours, newest, frozenset())
    assert [each.id for each in left] == ["old", "new"]
    assert [each.id for each in merge_unreported(ours, newest, frozenset({"old"}))] == ["new"]
    many = tuple(changed(OLD, id=str(at)) for at in range(MOST_UNREPORTED + 5))
    assert merge_unreported(ours, shown_on("n1", *many), frozenset())[-1].id == "new"
    assert len(merge_unreported(ours, shown_on("n1", *many), frozenset())) == MOST_UNREPORTED
