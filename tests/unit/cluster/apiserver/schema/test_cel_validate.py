from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from quintant.cluster.apiserver.meta.correlate import ABSENT
from quintant.cluster.apiserver.schema.cel_rule import BadRule
from quintant.cluster.apiserver.schema.cel_validate import ValidationRules
from unit.cluster.json_strategies import JSON

INTEGER = {"type": "integer"}
TEXT = {"type": "string", "maxLength": 9}


def _ruled(schema: Any, *rules: Any) -> Any:
    listed = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
    return {**schema, "x-kubernetes-validations": listed}


def _rules(**properties: Any) -> ValidationRules:
    found = ValidationRules.compile({"type": "object", "properties": properties})
    assert found is not None
    return found


def _told(rules: ValidationRules, new: Any, old: Any = ABSENT) -> list[tuple[str, str]]:
    return [(cause.field, cause.message) for cause in rules.validate(new, old).errors]


def test_a_schema_without_rules_has_none() -> None:
    assert ValidationRules.compile({"type": "object", "properties": {"a": INTEGER}}) is None


def test_rules_run_wherever_their_schema_is() -> None:
    positive = _ruled(INTEGER, "self > 0")
    rules = _rules(
        a=positive,
        l={"type": "array", "items": positive},
        m={"type": "object", "additionalProperties": positive},
    )
    value = {"a": 0, "l": [1, 0], "m": {"k": 0}}
    assert [field for field, _ in _told(rules, value)] == ["a", "l[1]", "m[k]"]
    assert _told(rules, {"a": None}) == []


def test_a_transition_needs_a_counterpart() -> None:
    fixed = _ruled(TEXT, "self == oldSelf")
    keyed = {
        "type": "array",
        "items": {"type": "object", "properties": {"k": TEXT, "v": fixed}},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
    }
    rules = _rules(a=fixed, l=keyed)
    assert _told(rules, {"a": "x"}) == []
    assert _told(rules, {"a": "x"}, {}) == []
    assert [field for field, _ in _told(rules, {"a": "x"}, {"a": "y"})] == ["a"]
    old = {"l": [{"k": "1", "v": "x"}]}
    new = {"l": [{"k": "2", "v": "y"}, {"k": "1", "v": "z"}]}
    assert [field for field, _ in _told(rules, new, old)] == ["l[1].v"]


def test_an_optional_old_value_is_asked_for() -> None:
    rule = {"rule": "oldSelf.orValue(0) <= self", "optionalOldSelf": True}
    rules = _rules(a=_ruled(INTEGER, rule))
    assert [field for field, _ in _told(rules, {"a": -1})] == ["a"]
    assert _told(rules, {"a": 3}, {"a": 2}) == []
    assert [field for field, _ in _told(rules, {"a": 1}, {"a": 2})] == ["a"]


def test_what_was_broken_before_only_warns() -> None:
    rules = _rules(a=_ruled(INTEGER, "self > 0"), b=INTEGER)
    result = rules.validate({"a": 0, "b": 1}, {"a": 0, "b": 0})
    assert result.errors == []
    assert result.warnings == ["a: Invalid value: 0: failed rule: self > 0"]
    assert rules.validate({"a": -1}, {"a": 0}).errors


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("'bad ' + self", "bad x"),
        ("''", "fallback"),
        ("'a\\nb'", "fallback"),
        ("self.substring(99)", "fallback"),
    ],
)
def test_a_computed_message_is_used_if_it_is_one(expression: str, message: str) -> None:
    rule = {"rule": "false", "message": "fallback", "messageExpression": expression}
    assert _told(_rules(a=_ruled(TEXT, rule)), {"a": "x"}) == [
        ("a", f'Invalid value: "x": {message}')
    ]


def test_a_rule_says_which_field_it_is_about() -> None:
    rule = {"rule": "self.x < self.y", "fieldPath": ".x", "reason": "FieldValueForbidden"}
    limits = {"type": "object", "properties": {"x": INTEGER, "y": INTEGER}}
    assert _told(_rules(a=_ruled(limits, rule)), {"a": {"x": 2, "y": 1}}) == [
        ("a.x", "Forbidden: failed rule: self.x < self.y")
    ]


def test_a_rule_that_fails_to_run_breaks_nothing_else() -> None:
    rules = _rules(a=_ruled(INTEGER, "1 / self > 0", "self > 0"))
    assert _told(rules, {"a": 0}) == [
        ("a", 'Invalid value: "integer": division by zero evaluating rule: 1 / self > 0'),
        ("a", "Invalid value: 0: failed rule: self > 0"),
    ]


def test_nothing_runs_after_the_budget_is_spent() -> None:
    heavy = _ruled({"type": "array", "items": INTEGER}, "self.all(x, self.all(y, x == y))")
    rules = _rules(a=heavy, b=_ruled(INTEGER, "self > 0"))
    told = _told(rules, {"a": [1] * 2000, "b": 0})
    assert [field for field, _ in told] == ["a"]
    assert "call cost exceeds limit" in told[0][1]


def test_a_bad_rule_says_which_part_of_it_is_bad() -> None:
    with pytest.raises(BadRule) as told:
        _rules(a=_ruled(TEXT, {"rule": "true", "messageExpression": "1"}))
    assert told.value.field == "messageExpression"
    assert str(told.value) == "messageExpression must evaluate to a string"


@given(JSON, JSON)
def test_no_value_breaks_the_rules_of_a_schema(new: Any, old: Any) -> None:
    rules = _rules(
        a=_ruled(INTEGER, "self > 0", "self >= oldSelf"),
        b={"type": "array", "items": _ruled(TEXT, "self.size() > 1")},
        c={"type": "object", "additionalProperties": _ruled(INTEGER, "self % 2 == 0")},
    )
    for result in (rules.validate(new, ABSENT), rules.validate(new, old)):
        assert all(cause.message for cause in result.errors)
