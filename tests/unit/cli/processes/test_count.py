from __future__ import annotations

import pytest

from quintant.cli.processes.count import (
    MOST_PROCESSES,
    available_processors,
    limited,
    parse_count,
)
from quintant.core.errors import ConfigError


def test_auto_is_one_process_per_processor() -> None:
    assert parse_count("auto", 4) == 4
    assert parse_count("auto", 0) == 1
    assert parse_count("auto", 500) == MOST_PROCESSES
    assert parse_count("3", 1) == 3


@pytest.mark.parametrize("text", ["0", "-1", "two", "", "65", "1.5", "9" * 40, "²"])
def test_what_is_no_number_of_processes_is_explained_in_three_lines(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_count(text, 2)
    assert str(refused.value).splitlines() == [
        f"{text!r} is no number of processes",
        "because: it must be a number from 1 to 64, or auto",
        "try: --processes=auto, which is one per processor",
    ]


@pytest.mark.parametrize(
    ("limit", "processors"),
    [
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("10000 100000", 1),
        ("6400000 100000", 8),
        ("max 100000", 8),
        ("-1 100000", 8),
        ("0 0", 8),
        ("nonsense", 8),
        ("", 8),
    ],
)
def test_the_limit_of_a_container_counts_rounded_up(limit: str, processors: int) -> None:
    assert limited(8, limit) == processors


def test_there_is_a_processor_here() -> None:
    assert available_processors() >= 1
