"""No test depends on how fast the machine is: none reads its clocks, and none has a budget of them.

Time in tests is virtual. What waits for a process waits with `patience`, which measures the machine
first; what code costs is counted in calls (`testbeds/call_counter.py`). Tests against other real
programs (`real`, `interop`, `conformance`) run in real time by their nature, and are not looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
OTHERS = ("real", "interop", "conformance")

CLOCKS = {
    f"{name}{unit}"
    for name in ("monotonic", "perf_counter", "process_time", "thread_time", "time")
    for unit in ("", "_ns")
}
BUDGETED = {"ExplorationOptions", "explore_scenario"}
"""What takes a `budget` of real seconds, unless it is given a `timer`."""

ALLOWED = {
    "patience.py": "measures the machine, so that no test has to",
    "testbeds/cosmos_unmanaged.py": "a chain's height is a number that grows, and nothing else",
    "testbeds/dummy_manager.py": "a real program of others, which is waited for",
    "testbeds/turn_meter.py": "CPU of one turn: milliseconds, against a whole second",
    "operators/klight/real/test_kill.py": "says how far a soak is, and decides nothing",
    "operators/klight/test_journal_soak.py": "a soak, with patience",
    "security/test_fuzz.py": "a parser that never ends is found by patience alone",
    "unit/cluster/apiserver/storage/test_durable.py": "printed, and decides nothing",
}
"""Files that read a real clock, and why no machine is too slow for them."""


@cache
def modules() -> Sequence[tuple[str, ast.Module]]:
    names = [path.relative_to(TESTS) for path in sorted(TESTS.rglob("*.py"))]
    return [
        (name.as_posix(), ast.parse((TESTS / name).read_text()))
        for name in names
        if name.parts[0] not in OTHERS
    ]


def reads_clock(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "time" and any(each.name in CLOCKS for each in node.names)
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "time"
        and node.attr in CLOCKS
    )


def has_budget(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return False
    given = {each.arg for each in node.keywords}
    return node.func.id in BUDGETED and "budget" in given and "timer" not in given


def test_no_test_reads_a_real_clock() -> None:
    readers = {name for name, tree in modules() if any(map(reads_clock, ast.walk(tree)))}
    assert readers == ALLOWED.keys()


def test_no_test_has_a_budget_of_real_seconds() -> None:
    assert [name for name, tree in modules() if any(map(has_budget, ast.walk(tree)))] == []


def test_the_scan_sees_clocks_and_budgets() -> None:
    for text in ("time.monotonic()", "from time import process_time", "x = time.time_ns"):
        assert any(map(reads_clock, ast.walk(ast.parse(text))))
    for text in ("time.sleep(1)", "from time import sleep", "loop.time()"):
        assert not any(map(reads_clock, ast.walk(ast.parse(text))))
    assert any(map(has_budget, ast.walk(ast.parse("ExplorationOptions(budget=1)"))))
    assert not any(map(has_budget, ast.walk(ast.parse("ExplorationOptions(budget=1, timer=t)"))))
