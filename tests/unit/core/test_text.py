"""What a stranger said is short, on one line, and gives no password away."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.core.text import LINE_LENGTH, one_line


def test_errors_are_short_single_lines_without_passwords() -> None:
    said = one_line("cannot dial wss://me:geheim@relay/\n\x1b[31mrefused" + "x" * 500)
    assert said.startswith("cannot dial wss://relay/ [31mrefusedxxx")
    assert len(said) == LINE_LENGTH


@given(st.text(), st.integers(0, 50))
def test_no_text_breaks_a_line(text: str, limit: int) -> None:
    said = one_line(text, limit)
    assert len(said) <= limit
    assert not any(char in said for char in map(chr, (*range(32), 127)))
