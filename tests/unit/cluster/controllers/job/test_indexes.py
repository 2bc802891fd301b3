"""Sets of indexes are written shortly and read back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.controllers.job.indexes import format_indexes, index_of, parse_indexes
from quintant.core.object import Object, ObjectMeta


@pytest.mark.parametrize(
    ("indexes", "text"),
    [((), ""), ((3,), "3"), ((0, 1), "0,1"), ((0, 1, 2, 5), "0-2,5"), ((7, 1, 2, 3), "1-3,7")],
)
def test_three_in_a_row_are_an_interval(indexes: tuple[int, ...], text: str) -> None:
    assert format_indexes(indexes) == text


@given(st.sets(st.integers(0, 60)))
def test_what_is_written_is_read(indexes: set[int]) -> None:
    assert parse_indexes(format_indexes(indexes), 61) == indexes


@pytest.mark.parametrize(
    ("text", "indexes"),
    [("0-9", {0, 1, 2}), ("5", set()), ("x", set()), ("1-x", set()), ("9" * 5000, set())],
)
def test_indexes_beyond_the_last_one_and_nonsense_are_left_out(
    text: str, indexes: set[int]
) -> None:
    assert parse_indexes(text, 3) == indexes


def test_pod_without_a_number_has_none() -> None:
    assert index_of(Object()) is None
    annotations = {"batch.kubernetes.io/job-completion-index": "7"}
    assert index_of(Object(metadata=ObjectMeta(annotations=annotations))) == 7
    annotations = {"batch.kubernetes.io/job-completion-index": "9" * 5000}
    assert index_of(Object(metadata=ObjectMeta(annotations=annotations))) is None
