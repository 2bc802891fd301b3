"""Every scenario of the design has a test of its number: `test_b6_and_b7_…` is for two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[2]
HOMES = (
    TESTS / "operators" / "shifu",
    TESTS / "unit" / "operators" / "shifu",
    TESTS / "unit" / "agents",
)
LAST = {"A": 7, "B": 16, "C": 8, "D": 7, "E": 6, "F": 11, "G": 9, "H": 14, "I": 4}
ELSEWHERE = {
    "A1": "upstream's own samples are beside upstream's programs, in tests/interop",
    "D7": "there is no page yet",
    "H11": "handlers in Python are not served",
    "I4": "a soak of hours in real time",
}
_NAME = re.compile(r"^(?:async )?def (test_\w+)|^(TestD5)", re.MULTILINE)
_NUMBER = re.compile(r"(?<=_)[a-i]\d+(?=_)")


def numbers() -> Iterator[str]:
    """The scenarios that tests name."""
    for home in HOMES:
        for path in home.rglob("test_*.py"):
            for function, case in _NAME.findall(path.read_text()):
                yield from (each.upper() for each in _NUMBER.findall(function))
                yield from (case.removeprefix("Test"),) if case else ()


def test_every_scenario_has_a_test_or_a_reason() -> None:
    every = {f"{letter}{at}" for letter, last in LAST.items() for at in range(1, last + 1)}
    assert set(numbers()) == every - ELSEWHERE.keys()
