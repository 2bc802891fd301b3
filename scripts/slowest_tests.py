"""The slowest tests of a run in parts: read from what each part printed, and shown as one list.

Pytest is asked for the durations of each part; set-up and tear-down count for their test.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

_LINE = re.compile(r"^(\d+\.\d+)s (?:setup|call|teardown) +(\S.*)$", re.MULTILINE)
"""What pytest prints for one phase of one test."""


def duration_options(count: int) -> list[str]:
    """What pytest needs to print enough: each of the slowest may have three phases."""
    return [f"--durations={3 * count}", "--durations-min=0"] if count else []


def without_durations(output: str) -> str:
    """What a part printed beside: the list of all parts has the rest."""
    return "".join(line for line in output.splitlines(keepends=True) if not _LINE.match(line))


def slowest_tests(outputs: Iterable[str], count: int) -> list[tuple[float, str]]:
    """The slowest tests of all parts with their seconds, the slowest first."""
    seconds = defaultdict[str, float](float)
    for output in outputs:
        for took, test in _LINE.findall(output):
            seconds[test] += float(took)
    return sorted(((took, test) for test, took in seconds.items()), reverse=True)[:count]


def slowest_table(outputs: Iterable[str], count: int) -> str:
    """The slowest tests, a line each, and how many seconds they are together."""
    found = slowest_tests(outputs, count)
    lines = [f"{took:8.2f} s  {test}" for took, test in found]
    return "\n".join([*lines, f"{sum(took for took, _ in found):8.2f} s  all {len(found)}"])
