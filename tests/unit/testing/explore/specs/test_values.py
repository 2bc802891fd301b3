"""Values of properties: what users write, boundaries, and what should be refused."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.testing.explore.specs.schema import Property
from quintant.testing.explore.specs.values import CORE_VALUES, values_of


def of(schema: dict[str, Any], now: Any = None, name: str = "a") -> list[Any]:
    return list(values_of(Property((name,), schema), now))


def test_a_number_goes_up_and_down_and_over_its_bounds() -> None:
    found = of({"type": "integer", "minimum": 1, "maximum": 9}, 4)
    assert found[:3] == [5, 6, 3]
    assert {0, 1, 9, 10} <= {*found}


def test_a_text_has_the_lengths_of_labels_and_names_and_one_more() -> None:
    found = of({"type": "string", "maxLength": 40}, "abc")
    assert {len(each) for each in found} >= {0, 40, 41, 63, 64, 253, 254} - {253, 254}
    assert all(each.startswith("abc") for each in found if len(each) in (40, 41))


def test_no_text_is_longer_than_a_command_line_takes() -> None:
    assert max(map(len, of({"type": "string", "maxLength": 10**6}))) < 4096


def test_every_word_of_an_enum_is_tried_and_one_that_is_none() -> None:
    assert of({"type": "string", "enum": ["a", "b", "c"]}, "b") == ["a", "c", "x"]


def test_a_quantity_is_also_a_number_and_also_nonsense() -> None:
    found = of({"x-kubernetes-int-or-string": True, "pattern": "…"}, "1")
    assert {"500m", "10Gi", "-1", "x"} <= {*found}


def test_a_list_grows_shrinks_and_turns_round() -> None:
    found = of({"type": "array", "items": {"type": "string"}, "maxItems": 4}, ["p", "q"])
    assert ["p"] in found
    assert [] in found
    assert ["q", "p"] in found
    assert any(len(each) == 3 and each[:2] == ["p", "q"] for each in found)
    assert {len(each) for each in found} >= {4, 5}


def test_items_of_a_list_differ_by_name() -> None:
    found = of({"type": "array", "items": {"type": "object"}}, [{"name": "p", "url": "x"}])
    assert [{"name": "p", "url": "x"}, {"name": "p-0", "url": "x"}] in found


@pytest.mark.parametrize("field", sorted(CORE_VALUES))
def test_fields_of_core_types_have_the_values_that_matter_there(field: str) -> None:
    assert of({"type": "object"}, name=field) == list(CORE_VALUES[field])


def test_what_is_there_already_is_no_change_and_nothing_comes_twice() -> None:
    found = of({"type": "integer"}, 1)
    assert 1 not in found
    assert len(found) == len({*found})
