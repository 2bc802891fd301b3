"""Promises of quintant.runtime.watch.line_buffer."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from quintant.runtime.watch.line_buffer import LineBuffer

LINES = st.lists(st.binary().map(lambda line: line.replace(b"\n", b"")))


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    marks = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(marks)]


@given(LINES, st.lists(st.integers(min_value=0)))
def test_any_cut_of_any_lines_gives_back_the_lines(lines: list[bytes], cuts: list[int]) -> None:
    reader = LineBuffer()
    data = b"\n".join([*lines, b""])

    found = [line for piece in pieces(data, cuts) for line in reader.feed(piece)]

    assert found == [line for line in lines if line]


@given(LINES, st.binary(min_size=1).map(lambda tail: tail.replace(b"\n", b"")))
def test_a_line_without_its_end_never_comes_out(lines: list[bytes], tail: bytes) -> None:
    reader = LineBuffer()

    assert reader.feed(b"\n".join([*lines, tail])) == [line for line in lines if line]
    assert reader.feed(b"") == []


def test_a_line_of_many_chunks_is_whole() -> None:
    reader = LineBuffer()
    for _ in range(1000):
        assert reader.feed(b"x" * 1000) == []

    assert reader.feed(b"\ny") == [b"x" * 1_000_000]
    assert reader.feed(b"\n") == [b"y"]


def test_blank_lines_are_dropped() -> None:
    assert LineBuffer().feed(b"\n\na\n\n") == [b"a"]
