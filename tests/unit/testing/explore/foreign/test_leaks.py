"""A panic is noticed in what a program prints."""

from __future__ import annotations

import pytest

from quintant.testing.explore.foreign.leaks import panic_in


@pytest.mark.parametrize(
    "line",
    [
        "panic: runtime error: invalid memory address",
        "thread 'main' panicked at src/main.rs:3",
        "Fatal Python error: Segmentation fault",
        'E0101 controller.go:1 "Observed a panic" controller="x"',
    ],
)
def test_a_panic_is_noticed(line: str) -> None:
    assert panic_in(["started", line]) == [f"the program crashed by itself: {line}"]


def test_an_error_that_is_handled_is_no_panic() -> None:
    assert (
        panic_in(["Traceback (most recent call last):", "kopf: handler failed; will retry"]) == []
    )
