"""What a benchmark says: a table, the method behind it, and how it stands to its budget.

Tables are printed as Markdown, so that what the terminal shows can be kept as it is.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH = 100


@dataclass(frozen=True, slots=True)
class Budget:
    """A promise, and what was measured."""

    promise: str
    measured: str
    met: bool

    def __str__(self) -> str:
        return f"- {'met' if self.met else 'MISSED'}: {self.promise}: {self.measured}"


@dataclass(frozen=True, slots=True)
class Table:
    """The result of one benchmark; the first column names who was measured."""

    title: str
    method: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    budgets: Sequence[Budget] = field(default=())

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = [f"### {self.title}", "", _line(self.head, widths), _rule(widths)]
        lines += [_line(row, widths) for row in self.rows]
        lines += ["", textwrap.fill(f"Method: {self.method}", WIDTH)]
        if self.budgets:
            lines += ["", *map(str, self.budgets)]
        return "\n".join(lines)


def times(one: float, other: float) -> str:
    """How often `other` goes into `one`: 6.1x."""
    return f"{one / other:.1f}x" if other else "-"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(cells, widths, strict=True)
    shown = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
    return f"| {' | '.join(shown)} |"


def _rule(widths: Sequence[int]) -> str:
    first, *rest = ("-" * width for width in widths)
    return f"|{'|'.join([f' {first} ', *(f' {dashes[1:]}: ' for dashes in rest)])}|"
