from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core.json_pointer import escape_step, unescape_step


@pytest.mark.parametrize(
    ("key", "step"), [("a", "a"), ("a/b", "a~1b"), ("m~n", "m~0n"), ("~1", "~01"), ("", "")]
)
def test_a_key_is_written_as_the_standard_says(key: str, step: str) -> None:
    assert escape_step(key) == step
    assert unescape_step(step) == key


@given(st.text())
def test_every_key_comes_back(key: str) -> None:
    assert "/" not in escape_step(key)
    assert unescape_step(escape_step(key)) == key
