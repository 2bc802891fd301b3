from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.golang.printing import encoded, plain, quoted, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, "1.5"),
        (2.0, "2"),
        (999999.0, "999999"),
        (1e6, "1e+06"),
        (-1234567.5, "-1.2345675e+06"),
        (1e20, "1e+20"),
        (1e21, "1e+21"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (123456789012345678.0, "1.2345678901234568e+17"),
        (True, "true"),
        ("é", '"é"'),
        (None, "null"),
        ({"b": "<&>", "a": [1, None]}, '{"a":[1,null],"b":"\\u003c\\u0026\\u003e"}'),
    ],
)
def test_values_in_messages(value: Any, text: str) -> None:
    assert shown(value) == text


def test_json_writes_small_numbers_out() -> None:
    assert encoded([0.00001, 1e-7, 1e21]) == "[0.00001,1e-7,1e+21]"
    assert encoded([1e6, 1234567.5, 2.0**63]) == "[1000000,1234567.5,9223372036854776000]"


def test_quotes_escape_what_does_not_print() -> None:
    assert quoted('a"\\\n\x00\x7f\u200b') == '"a\\"\\\\\\n\\x00\\x7f\\u200b"'


def test_plain_values_have_no_quotes() -> None:
    assert plain({"b": ["x", 1], "a": None}) == "map[a:<nil> b:[x 1]]"
