"""Requirements and the selectors made of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.meta.selectors import (
    EVERYTHING,
    Operator,
    Selector,
    SelectorRequirement,
    from_object,
)

WORDS = st.sampled_from(["a", "b", "c", "1", "2"])
SETS = st.frozensets(WORDS, min_size=1, max_size=2)
REQUIREMENTS = st.lists(
    st.builds(SelectorRequirement, WORDS, st.sampled_from(Operator), SETS), max_size=6
)
LABELS = {"app": "web", "tier": "1", "empty": ""}


@pytest.mark.parametrize(
    ("operator", "value", "matches"),
    [
        (Operator.GREATER, "0", True),
        (Operator.GREATER, "1", False),
        (Operator.LESS, "2", True),
        (Operator.LESS, "1", False),
    ],
)
def test_numbers_compare_as_numbers(operator: Operator, value: str, matches: bool) -> None:
    assert SelectorRequirement("tier", operator, frozenset({value})).matches(LABELS) is matches
    assert not SelectorRequirement("app", operator, frozenset({value})).matches(LABELS)
    assert not SelectorRequirement("absent", operator, frozenset({value})).matches(LABELS)


def test_a_selector_without_requirements_matches_everything() -> None:
    assert EVERYTHING.matches({})
    assert not EVERYTHING


def test_a_selector_knows_the_only_value_a_key_may_have() -> None:
    one = SelectorRequirement("app", Operator.IN, frozenset({"web"}))
    two = SelectorRequirement("tier", Operator.IN, frozenset({"1", "2"}))
    selector = Selector((one, two, SelectorRequirement("x", Operator.NOT_IN, frozenset({"y"}))))
    assert [selector.exact(key) for key in ("app", "tier", "x")] == ["web", None, None]


def test_the_object_form_means_the_same() -> None:
    selector = from_object(
        {
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["1", "2"]},
                {"key": "absent", "operator": "DoesNotExist"},
            ],
        }
    )
    assert selector.matches(LABELS)
    assert not selector.matches({**LABELS, "absent": "here"})
    assert from_object({}) == Selector()


@given(REQUIREMENTS, st.dictionaries(WORDS, WORDS, max_size=4))
def test_a_selector_matches_what_each_requirement_does(
    requirements: list[SelectorRequirement], labels: dict[str, str]
) -> None:
    selector = Selector(tuple(requirements))
    assert selector.matches(labels) is all(each.matches(labels) for each in requirements)
    assert selector == Selector(tuple(requirements))
    assert hash(selector) == hash(Selector(tuple(requirements)))
