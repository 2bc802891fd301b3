"""A failure as a person reads it: what users did, where it was disturbed, and how to repeat it.

    before the fault    the last lines that lead up to it
    after it            everything until what does not hold becomes visible

A long way from one to the other is told without what watches delivered, and, if it is longer still,
without its middle; what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from quintant.testing.explore.checks import Breach
from quintant.testing.explore.simulation.run import RunRecord

# Lines before the fault that lead up to it.
LEADING_LINES = 12
# Lines after it: as many as a person reads at once. Of more, those at the fault, and those in which
# it becomes visible.
MOST_LINES = 80
FIRST_LINES = 24
# How lines begin of what watches delivered, by number or by name.
EVENT_LINES = ("  e", "  ADDED:", "  MODIFIED:", "  DELETED:")


def failure_story(record: RunRecord, breach: Breach, target: str = "") -> str:
    """The story of a run."""
    lines = record.trace.lines
    struck = next((at for at, line in enumerate(lines) if line.startswith("!")), len(lines))
    visible = max(struck, _visible(lines, breach.seen_in))
    before = [line for line in lines[:struck] if _leads(line)]
    shown = [
        *_elided(before[:-LEADING_LINES]),
        *before[-LEADING_LINES:],
        *_shortened(lines[struck : visible + 1]),
        *_elided(lines[visible + 1 :]),
    ]
    if record.failing:
        shown.append(f"! the last reconcile that failed: {record.failing}")
    shown.append(f"=> {breach.why}")
    if target:
        shown.append(f"repeat: quintant explore {target} --replay '{record.token}'")
    return "\n".join(f"  {line}" for line in shown)


def _visible(lines: Sequence[str], text: str) -> int:
    """The last line with a text; that of the end if there is none, or nothing to look for."""
    found = (at for at in reversed(range(len(lines))) if text and text in lines[at])
    return next(found, len(lines) - 1)


def _shortened(lines: list[str]) -> list[str]:
    if len(lines) <= MOST_LINES:
        return lines
    leading = [line for line in lines if _leads(line)]
    left_out = len(lines) - len(leading)
    if len(leading) > MOST_LINES:
        last = MOST_LINES - FIRST_LINES
        middle = _elided(leading[FIRST_LINES:-last])
        leading = [*leading[:FIRST_LINES], *middle, *leading[-last:]]
    return [*leading, f"  … {left_out} events in between"]


def _leads(line: str) -> bool:
    """Whether a line matters in a long story: what watches delivered does not."""
    return not line.startswith(EVENT_LINES)


def _elided(lines: Sequence[str]) -> list[str]:
    return [f"  … {len(lines)} lines"] if lines else []
