"""Reconciling and Stalled follow from other conditions, and change with those alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from quintant.api.meta import Condition, ConditionClaim, condition_of, set_conditions
from quintant.runtime.reconcile.kstatus import reconciling, stalled, with_kstatus

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RULES = (
    stalled("Valid", "False", "BadSpec"),
    reconciling("Progressing", "True"),
    stalled("Progressing", "False", "Overdue"),
)


def judged(
    *claims: ConditionClaim, known: tuple[Condition, ...] = (), generation: int = 1
) -> tuple[Condition, ...]:
    found = set_conditions(known, claims, generation=generation, now=NOW)
    return with_kstatus(found, RULES, generation=generation, now=NOW)


def said(conditions: tuple[Condition, ...], type: str) -> tuple[str, str, str] | None:
    found = condition_of(conditions, type)
    return (found.status, found.reason, found.message) if found is not None else None


def test_what_is_not_so_is_not_mentioned() -> None:
    found = judged(ConditionClaim("Progressing", False, "Settled"))
    assert [each.type for each in found] == ["Progressing"]


def test_the_first_rule_that_holds_decides_with_the_words_of_its_condition() -> None:
    found = judged(
        ConditionClaim("Progressing", True, "Updating", "pods change"),
        ConditionClaim("Valid", False, "BadSpec", "no name"),
    )
    assert said(found, "Stalled") == ("True", "BadSpec", "no name")
    assert said(found, "Reconciling") is None


def test_a_reason_that_no_rule_names_decides_nothing() -> None:
    found = judged(ConditionClaim("Valid", False, "Odd"))
    assert said(found, "Stalled") is None


def test_what_is_over_leaves_nothing_behind() -> None:
    under_way = judged(ConditionClaim("Progressing", True, "Updating", "pods change"))
    assert said(under_way, "Reconciling") == ("True", "Updating", "pods change")
    stuck = judged(ConditionClaim("Progressing", False, "Overdue"), known=under_way)
    assert said(stuck, "Stalled") == ("True", "Overdue", "")
    assert said(stuck, "Reconciling") is None
    done = judged(ConditionClaim("Progressing", False, "Settled"), known=stuck)
    assert done == judged(ConditionClaim("Progressing", False, "Settled"))


def test_the_order_of_conditions_does_not_tell_which_came_first() -> None:
    early = judged(ConditionClaim("Ready", True, "Well"), ConditionClaim("Progressing", True, "On"))
    late = judged(ConditionClaim("Progressing", True, "On"), ConditionClaim("Ready", True, "Well"))
    assert [each.type for each in early] == ["Progressing", "Ready", "Reconciling"]
    assert early == late


def test_at_rest_nothing_changes_however_late() -> None:
    under_way = judged(ConditionClaim("Progressing", True, "Updating"))
    done = judged(ConditionClaim("Progressing", False, "Settled"), known=under_way)
    later = with_kstatus(done, RULES, generation=1, now=NOW + timedelta(hours=1))
    assert later == done


def test_a_condition_that_a_kind_sets_itself_stays_as_it_is() -> None:
    rules = (stalled("Stalled", "True"), reconciling("Progressing", "True"))
    claims = (
        ConditionClaim("Stalled", True, "Refused"),
        ConditionClaim("Progressing", True, "Updating"),
    )
    known = set_conditions((), claims, generation=1, now=NOW)
    assert set(with_kstatus(known, rules, generation=2, now=NOW)) == set(known)
