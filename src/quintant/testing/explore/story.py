"""A failure as a person reads it: what users did, where it was disturbed, and how to repeat it."""

from __future__ import annotations

from quintant.testing.explore.simulation.run import RunRecord

# Lines before the fault that lead up to it; what is left out is said.
LEADING_LINES = 12
# Lines after it, in which it has to become visible.
FOLLOWING_LINES = 24


def told(record: RunRecord, why: str, target: str = "") -> str:
    """The story of a run."""
    lines = record.trace.lines
    struck = next((at for at, line in enumerate(lines) if line.startswith("!")), len(lines))
    before = [line for line in lines[:struck] if _leads(line)]
    after = lines[struck:]
    shown = [
        *_elided(before[:-LEADING_LINES]),
        *before[-LEADING_LINES:],
        *after[:FOLLOWING_LINES],
        *_elided(after[FOLLOWING_LINES:]),
        f"=> {why}",
    ]
    if target:
        shown.append(f"repeat: quintant explore {target} --replay '{record.token}'")
    return "\n".join(f"  {line}" for line in shown)


def _leads(line: str) -> bool:
    """Whether a line before the fault matters: what watches delivered does not."""
    return not line.startswith("  e")


def _elided(lines: list[str]) -> list[str]:
    return [f"  … {len(lines)} lines"] if lines else []
