"""How old a change is when kubectl prints it, and when a page shows it."""

from __future__ import annotations

import pytest
from benchmarks.console_kubectl import WatchedChanges
from benchmarks.console_page import worst


def test_only_lines_with_a_time_are_counted() -> None:
    found = WatchedChanges()
    for line in (b"sensor\n", b"\n", b"t12x\n", b"\xff\n", b"t1700000000000\n"):
        found.note(line)
    assert len(found.delays) == 1
    assert found.delays[0] > 0


@pytest.mark.parametrize(
    ("delays", "expected"),
    [([], 0.0), ([0.5], 0.5), ([at / 100 for at in range(1, 101)], 0.95)],
)
def test_the_worst_is_what_95_of_100_do_not_exceed(delays: list[float], expected: float) -> None:
    assert worst(delays) == pytest.approx(expected, abs=0.01)
