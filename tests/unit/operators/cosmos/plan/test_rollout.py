"""Never too many nodes are away by our hand, and what waiting cannot help is not waited for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from quintant.operators.cosmos.observed.outcome import PodOutcome
from quintant.operators.cosmos.plan.rollout import (
    PodChanges,
    compute_rollout,
    counted,
    disruption_budget,
    is_ended,
    max_unavailable,
    plan_pods,
    plan_rollout,
)
from quintant.runtime.apply import ChildUpdate
from unit.operators.cosmos.observations import NOW, observed, pod, update


@pytest.mark.parametrize(
    ("most", "desired", "ready", "result"),
    [
        (1, 1, 1, 1), (5, 10, 10, 5), (5, 10, 0, 0), ("50%", 3, 3, 1), (3, 9, 7, 1), (3, 9, 8, 2),
        (3, 9, 5, 0), (None, 4, 4, 1), (None, 4, 3, 0), ("35%", 9, 7, 1), ("33%", 9, 8, 1),
        (20, 10, 0, 10), ("200%", 10, 10, 10), (0, 100, 100, 1), ("0%", 100, 100, 1),
        (0, 100, 99, 0), (10, 0, 10, 0), (None, 10, 9, 1), (None, 10, 8, 0),
    ],
)  # fmt: skip
def test_the_budget_is_the_originals(
    most: int | str | None, desired: int, ready: int, result: int
) -> None:
    assert compute_rollout(most, desired, ready) == result


def replaced(states: str, updates: Any = "", **rest: Any) -> list[str]:
    """The pods that are replaced now; `updates` marks those that differ with u (image) or o."""
    marks = updates or "u" * len(states)
    found = [
        update(at, state, image="new" if mark == "u" else "old", **rest.get(f"pod{at}", {}))
        for at, (state, mark) in enumerate(zip(states, marks, strict=True))
        if mark in "uo" and state != " "
    ]
    plan = plan_rollout(observed(states, **rest), found)
    return [each.metadata.name for each in plan.delete]


def two(of: int) -> dict[str, Any]:
    return {"strategy": {"maxUnavailable": of}}


def test_as_many_are_replaced_at_once_as_the_budget_allows_lowest_first() -> None:
    assert replaced("+++++", **two(2)) == ["hub-0", "hub-1"]


def test_none_is_replaced_while_replacements_are_not_in_sync() -> None:
    assert replaced("~~+++", "..uuu", **two(2)) == []
    assert replaced("+~+++", "..uuu", **two(2)) == ["hub-2"]
    assert replaced("+++++", "..uuu", **two(2)) == ["hub-2", "hub-3"]


def test_ready_is_not_enough_and_neither_is_in_sync() -> None:
    assert replaced("~++", ".uu", **two(1)) == []
    assert replaced("-++", ".uu", **two(1)) == []


def test_an_error_of_a_replacement_holds_the_others_back() -> None:
    assert replaced("!++", ".uu", **two(1)) == []


def test_where_no_node_is_in_sync_those_that_answer_count() -> None:
    assert replaced("~~~~~", **two(2)) == ["hub-0", "hub-1"]
    assert replaced("  ~~~", "..uuu", **two(2)) == []


def test_a_node_that_is_gone_and_wants_another_image_is_replaced_outside_the_budget() -> None:
    assert replaced("!++", "uuu", **two(1)) == ["hub-0"]
    assert replaced("!!!", "uuu", **two(1)) == ["hub-0", "hub-1", "hub-2"]


def test_nobody_is_replaced_before_he_was_asked() -> None:
    assert replaced("???", **two(3)) == []
    assert replaced("????", **two(20)) == []
    assert replaced("###", **two(1)) == []


def test_other_changes_are_budgeted_too() -> None:
    assert replaced("+++", "ooo", **two(1)) == ["hub-0"]
    assert replaced("+++", "oou", **two(1)) == ["hub-2"]


def test_a_revert_replaces_the_bad_pods_though_they_are_not_in_sync() -> None:
    assert replaced("~++", "u..", **two(1)) == ["hub-0"]
    assert replaced("x++", "u..", **two(1)) == ["hub-0"]
    waiting = {"pod0": {"waiting": True}}
    assert replaced("!++", "o..", **two(1), **waiting) == ["hub-0"]


def test_nodes_that_are_down_anyway_are_replaced_no_faster_than_others_return() -> None:
    assert replaced("+~~~~", ".uuuu", **two(2)) == ["hub-1", "hub-2"]
    assert replaced("+~~~~", "...uu", **two(2)) == []


def test_a_pod_that_is_away_or_going_spends_the_budget() -> None:
    assert replaced("d++", ".uu", **two(1)) == []
    assert replaced("+++", "uuu", away={"hub-2"}, **two(1)) == []
    assert disruption_budget(observed("+++", away={"hub-1"}, **two(1))) == 0


def test_disabled_instances_are_not_desired() -> None:
    off = {"instanceOverrides": {"hub-2": {"disable": "Pod"}}}
    assert observed("++ ", **off).desired == 2
    assert replaced("++ ", "uu.", **off, **two(1)) == ["hub-0"]


def test_a_partition_leaves_lower_ordinals_alone() -> None:
    part = {"strategy": {"maxUnavailable": 4, "partition": 2}}
    assert replaced("++++", **part) == ["hub-2", "hub-3"]


def test_an_update_stops_at_a_pod_that_is_not_available_in_time() -> None:
    strategy = {"strategy": {"maxUnavailable": 2, "progressDeadlineSeconds": 60}}
    old = {"pod0": {"created": NOW - timedelta(seconds=61)}}
    young = {"pod0": {"created": NOW - timedelta(seconds=59)}}
    assert replaced("~+++", ".uuu", **strategy, **young) == ["hub-1"]
    assert replaced("~+++", ".uuu", **strategy, **old) == []
    plan = plan_rollout(observed("~+++", **strategy, **old), [update(1)])
    assert (plan.overdue, plan.more) == ("hub-0", True)
    assert replaced("~+++", "u...", **strategy, **old) == ["hub-0"]


def test_a_halted_node_is_replaced_at_once_whatever_it_says() -> None:
    table = [{"height": 0, "image": "old"}, {"height": 100, "image": "new"}]
    told = {f"hub-{at}": {"height": 100, "name": "v2"} for at in range(3)}
    seen = {"chain": {"versions": table}, "status": {"upgradeInfo": told}}
    assert observed("+++", **seen).available == 0
    assert replaced("+++", **two(1), **seen) == ["hub-0", "hub-1", "hub-2"]


def test_pods_beside_a_node_go_with_it() -> None:
    beside = {"cosmos.strange.love/belongs-to": "hub-1"}
    follower = update(9, labels=beside)
    plan = plan_rollout(observed("+++", **two(1)), [update(0), update(1), follower])
    assert [each.metadata.name for each in plan.delete] == ["hub-0"]
    alone = plan_rollout(observed("+++", **two(1)), [follower])
    assert [each.metadata.name for each in alone.delete] == ["hub-9"]


def test_a_pod_that_ended_is_replaced() -> None:
    assert is_ended(pod(0, phase="Failed"))
    assert not is_ended(pod(0))
    assert not is_ended(pod(0, "d", phase="Failed"))


def test_nothing_is_replaced_where_a_pod_was_made_or_has_ended() -> None:
    seen, differs = observed("+++", **two(1)), (ChildUpdate(update(1).have, update(1).want),)
    made = plan_pods(seen, PodChanges(create=(update(0).want,), update=differs))
    assert (made.delete, made.outcome) == ((), PodOutcome(progressing=True))
    failed = observed("+++", pod2={"phase": "Failed"}, **two(1))
    ended = plan_pods(failed, PodChanges(update=differs))
    assert [each.metadata.name for each in ended.delete] == ["hub-2"]
    assert not ended.replaces


def test_a_working_pod_is_replaced_only_by_the_newest_spec() -> None:
    differs = (ChildUpdate(update(1).have, update(1).want),)
    plan = plan_pods(observed("+++", **two(1)), PodChanges(update=differs))
    assert [each.metadata.name for each in plan.delete] == ["hub-1"]
    assert plan.replaces
    assert plan.outcome == PodOutcome(progressing=True)
    assert plan_pods(observed("+++"), PodChanges()).outcome == PodOutcome()


STATE = some.sampled_from("+?!~-#x d")


@given(some.text(STATE, min_size=1, max_size=12), some.integers(0, 12), some.data())
def test_no_plan_leaves_fewer_available_than_the_budget_allows(
    states: str, most: int, data: some.DataObject
) -> None:
    marks = data.draw(
        some.text(some.sampled_from("uo."), min_size=len(states), max_size=len(states))
    )
    seen = observed(states, **two(most))
    working = {node.name for node in counted(seen.nodes)}
    gone = working & set(replaced(states, marks, **two(most)))
    allowed = max(seen.desired - max_unavailable(most, seen.desired), 0)
    assert not gone or len(working) - len(gone) >= allowed
