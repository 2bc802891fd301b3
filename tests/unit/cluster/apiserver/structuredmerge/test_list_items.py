"""Items of lists: what tells them apart, and the order of two lists in one."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.structuredmerge.list_items import (
    MISSING,
    align_items,
    associative,
    index_items,
    list_elements,
    unique_elements,
)
from quintant.cluster.apiserver.structuredmerge.schema import (
    DEDUCED,
    DeclaredSchema,
    ListType,
    TypingError,
)

LIST = DeclaredSchema(list_type=ListType.MAP, keys={"name": None})
PORTS = DeclaredSchema(list_type=ListType.MAP, keys={"port": None, "protocol": "TCP"})
SET = DeclaredSchema(list_type=ListType.SET)


def items(names: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in names]


@pytest.mark.parametrize(
    ("live", "config", "merged"),
    [
        ("abc", "b", "abc"),
        ("a", "b", "ab"),
        ("axb", "ba", "xba"),
        ("xa", "na", "xna"),
        ("abx", "ban", "bxan"),
        ("ax", "an", "axn"),
        ("", "ab", "ab"),
        ("ab", "", "ab"),
    ],
)
def test_configured_items_come_in_the_configurations_order(
    live: str, config: str, merged: str
) -> None:
    pairs = align_items(items(live), items(config), LIST)
    found = [one if other is MISSING else other for one, other in pairs]
    assert "".join(each["name"] for each in found) == merged


def test_an_item_that_only_one_list_has_is_missing_in_the_other() -> None:
    pairs = [(one, other) for one, other in align_items(["a", "b"], ["b", "c"], SET)]
    assert pairs == [("a", MISSING), ("b", "b"), (MISSING, "c")]


def test_an_item_is_known_by_its_value_or_its_keys() -> None:
    assert [element for element, _ in list_elements(["t", 1], SET)] == ['v:"t"', "v:1"]
    assert [element for element, _ in list_elements(items("x"), LIST)] == ['k:{"name":"x"}']


def test_a_missing_key_takes_its_default() -> None:
    one, other = {"port": 1}, {"port": 1, "protocol": "TCP", "name": "x"}
    assert list(align_items([one], [other], PORTS)) == [(one, other)]


def test_an_item_that_is_there_twice_counts_once_or_not_at_all() -> None:
    twice = [{"name": "a", "n": 1}, {"name": "a", "n": 2}]
    assert index_items(twice, LIST) == {'k:{"name":"a"}': {"name": "a", "n": 2}}
    with pytest.raises(TypingError, match="duplicate entries for key"):
        list(unique_elements(twice, LIST))
    assert [item for _, item in unique_elements(items("ab"), LIST)] == items("ab")


@pytest.mark.parametrize("wrong", ["a", {"other": 1}])
def test_an_item_that_nothing_tells_apart_does_not_fit(wrong: Any) -> None:
    with pytest.raises(TypingError):
        index_items([wrong], LIST)


def test_items_of_an_atomic_list_are_not_told_apart() -> None:
    assert not associative(DEDUCED)
    assert associative(LIST)
    assert associative(SET)
