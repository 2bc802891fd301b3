from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from quintant.api.meta import (
    Condition,
    ConditionClaim,
    LabelSelector,
    LabelSelectorRequirement,
    condition_of,
    set_condition,
    set_conditions,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)


def ready(status: str | bool, *, now: datetime, message: str = "") -> tuple[Condition, ...]:
    return set_condition((), "Ready", status=status, reason="Test", message=message, now=now)


def test_new_condition_is_appended_with_the_time_of_its_birth() -> None:
    before = (Condition(type="Other", status="True"),)
    after = set_condition(
        before, "Ready", status="False", reason="Starting", message="wait", generation=3, now=NOW
    )
    assert after == (
        before[0],
        Condition(
            type="Ready",
            status="False",
            reason="Starting",
            message="wait",
            observed_generation=3,
            last_transition_time="2026-01-01T12:00:00Z",
        ),
    )


def test_time_stays_while_the_status_does_even_if_the_message_changes() -> None:
    after = set_condition(
        ready("True", now=NOW), "Ready", status="True", reason="New", message="other", now=LATER
    )
    assert after[0].reason == "New"
    assert after[0].message == "other"
    assert after[0].last_transition_time == "2026-01-01T12:00:00Z"


def test_time_moves_when_the_status_flips() -> None:
    after = set_condition(ready("True", now=NOW), "Ready", status="False", reason="X", now=LATER)
    assert after[0].last_transition_time == "2026-01-01T12:05:00Z"


def test_setting_the_same_again_gives_an_equal_tuple() -> None:
    before = (*ready("True", now=NOW), Condition(type="Other", status="False"))
    assert set_condition(before, "Ready", status="True", reason="Test", now=LATER) == before


def test_a_condition_stored_without_a_time_gets_one() -> None:
    before = (Condition(type="Ready", status="True"),)
    after = set_condition(before, "Ready", status="True", reason="Test", now=NOW)
    assert after[0].last_transition_time == "2026-01-01T12:00:00Z"


def test_truth_values_become_kubernetes_words() -> None:
    assert ready(True, now=NOW)[0].status == "True"
    assert ready(False, now=NOW)[0].status == "False"


def test_claims_are_set_in_order_and_what_nobody_claims_stays() -> None:
    known = set_condition((), "Other", status=True, reason="R", now=NOW)
    claims = [
        ConditionClaim("Ready", False, "Starting"),
        ConditionClaim("Ready", True, "Up", "it runs"),
        ConditionClaim("Known", "Unknown", "NotAsked"),
    ]
    other, ready, unsure = set_conditions(known, claims, generation=3, now=NOW)
    assert other == known[0]
    assert (ready.status, ready.reason, ready.message) == ("True", "Up", "it runs")
    assert (unsure.status, unsure.observed_generation) == ("Unknown", 3)


def test_condition_is_found_by_its_type() -> None:
    conditions = ready("True", now=NOW)
    assert condition_of(conditions, "Ready") is conditions[0]
    assert condition_of(conditions, "Other") is None


@pytest.mark.parametrize(
    ("term", "selected"),
    [
        (LabelSelectorRequirement(key="app", operator="In", values=("web", "api")), True),
        (LabelSelectorRequirement(key="app", operator="In", values=("api",)), False),
        (LabelSelectorRequirement(key="app", operator="NotIn", values=("api",)), True),
        (LabelSelectorRequirement(key="tier", operator="NotIn", values=("api",)), True),
        (LabelSelectorRequirement(key="tier", operator="In", values=("api",)), False),
        (LabelSelectorRequirement(key="app", operator="Exists"), True),
        (LabelSelectorRequirement(key="tier", operator="Exists"), False),
        (LabelSelectorRequirement(key="tier", operator="DoesNotExist"), True),
        (LabelSelectorRequirement(key="app", operator="DoesNotExist"), False),
    ],
)
def test_selector_terms_follow_kubernetes(term: LabelSelectorRequirement, selected: bool) -> None:
    assert LabelSelector(match_expressions=(term,)).matches({"app": "web"}) is selected


def test_selector_wants_all_its_labels_and_an_empty_one_wants_none() -> None:
    assert LabelSelector().matches({})
    assert LabelSelector(match_labels={"a": "1", "b": "2"}).matches({"a": "1", "b": "2", "c": "3"})
    assert not LabelSelector(match_labels={"a": "1", "b": "2"}).matches({"a": "1"})


def test_unknown_operator_is_an_error_rather_than_a_match() -> None:
    selector = LabelSelector(
        match_expressions=(LabelSelectorRequirement(key="a", operator="Like"),)
    )
    with pytest.raises(ValueError, match="'Like' is not an operator"):
        selector.matches({})
