"""docs/sizing.md: figures as in docs/performance.md, and limits as the operators have them."""

from __future__ import annotations

import re

from quintant.operators import OPERATORS
from unit.test_docs import DOCS


def test_every_figure_of_the_sizes_is_one_that_was_measured() -> None:
    measured = (DOCS / "performance.md").read_text()
    rows = [line for line in (DOCS / "sizing.md").read_text().splitlines() if line[:2] == "| "]
    figures = {each for row in rows for each in re.findall(r"\d[\d.,]* MB|\d+ \+ \d+ MB", row)}
    assert figures
    assert {each for each in figures if each not in measured} == set()


def test_the_sizes_have_the_limit_of_every_operator() -> None:
    page = (DOCS / "sizing.md").read_text()
    for name, program in OPERATORS.items():
        assert f"| {name} | {program.memory} |" in page
