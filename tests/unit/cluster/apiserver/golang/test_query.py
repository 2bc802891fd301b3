from __future__ import annotations

import pytest

from quintant.cluster.apiserver.golang.query import MOST, read_pairs


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", {}),
        ("a=1&b=", {"a": "1", "b": ""}),
        ("a", {"a": ""}),
        ("a=1&a=2", {"a": "1"}),
        ("a=x%3Dy+z", {"a": "x=y z"}),
        ("a=%zz&b=1", {"b": "1"}),
        ("a=%2", {}),
        ("a;b=1&c=2", {"c": "2"}),
        ("&&=x", {"": "x"}),
        ("a=%ff", {"a": "\ufffd"}),
    ],
)
def test_a_query_is_read_as_far_as_it_can_be(query: str, found: dict[str, str]) -> None:
    assert read_pairs(query) == found


def test_of_too_many_parameters_none_is_read() -> None:
    assert read_pairs("a&" * (MOST - 1)) == {"a": ""}
    assert read_pairs("a&" * MOST) == {}
