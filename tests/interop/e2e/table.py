"""The table of docs/embedded-server.md: how many tests a sig has, and what becomes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from interop.e2e.kept_list import KeptList, SigTests

HEAD = ("| sig | tests | pass | are not run |", "|---|---|---|---|")


def table(kept: KeptList) -> str:
    """The table; reasons are counted by their groups, the most frequent first."""
    rows = [_row(sig, [tests]) for sig, tests in sorted(kept.items())]
    return "\n".join((*HEAD, *rows, _row("all", kept.values())))


def _row(sig: str, several: Iterable[SigTests]) -> str:
    tests = list(several)
    names = sum(1 for each in tests for _ in each.names)
    passing = sum(len(each.passing) for each in tests)
    return f"| {sig} | {names} | {passing} | {', '.join(_groups(tests))} |"


def _groups(tests: Iterable[SigTests]) -> Iterator[str]:
    reasons = (reason for each in tests for _, reason in each.reasons())
    counts = Counter(reason.partition(":")[0] for reason in reasons)
    for group, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count} {group}"
