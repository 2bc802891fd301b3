"""Promises of quintant.runtime.apply.order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.runtime.apply.order import natural_key, ordinal, sort_key
from unit.runtime.apply.fleet import ship

KEY = "app.kubernetes.io/ordinal"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("web-0", 0), ("web-2", 2), ("web-22", 22), ("web", 0), ("web2", 0), ("web-", 0), ("7", 0)],
)
def test_an_ordinal_is_the_number_at_the_end_of_the_name(name: str, expected: int) -> None:
    assert ordinal(ship(name)) == expected


def test_an_ordinal_under_its_key_comes_before_the_name() -> None:
    assert ordinal(ship("web-7", annotations={KEY: "3"}), KEY) == 3
    assert ordinal(ship("web-7", labels={KEY: "4"}), KEY) == 4
    assert ordinal(ship("web-7", annotations={KEY: "3"}), "another") == 7


@pytest.mark.parametrize("nonsense", ["", "x", "-1", "1.5", "٣", "9" * 5000])
def test_an_unreadable_ordinal_falls_back_to_the_name(nonsense: str) -> None:
    assert ordinal(ship("web-7", annotations={KEY: nonsense}), KEY) == 7
    assert ordinal(ship("web", annotations={KEY: nonsense}), KEY) == 0


def test_two_comes_before_twenty_two() -> None:
    names = ["web-22", "web-2", "web-0", "api", "api-2"]
    assert [s.metadata.name for s in sorted(map(ship, names), key=sort_key)] == [
        "api",
        "web-0",
        "api-2",
        "web-2",
        "web-22",
    ]


@given(st.lists(st.integers(0, 10**6), min_size=2, unique=True))
def test_names_that_differ_in_a_number_are_ordered_by_it(numbers: list[int]) -> None:
    names = [f"a{number}-x" for number in numbers]
    assert sorted(names, key=natural_key) == [f"a{number}-x" for number in sorted(numbers)]


@given(st.lists(st.from_regex(r"[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)))
def test_any_names_can_be_ordered(names: list[str]) -> None:
    assert len(sorted(map(ship, names), key=sort_key)) == len(names)
