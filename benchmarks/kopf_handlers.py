"""What kopf's handlers cost on Quintant, and on kopf: the same modules, in turn.

In one pair the handlers use the official client, as kopf's documentation has it, which costs both
sides the same; in the other they are as lean as they can be, which leaves what runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.competitors import operators
from benchmarks.envtest_server import envtest_server
from benchmarks.reconcile import (
    BUDGET_HANDLERS_CPU,
    BUDGET_HANDLERS_MEMORY,
    SETTLE_SECONDS,
    WARM,
    Cost,
    measure,
)
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes

PAIRS = {
    "the official client": ("kopf", "kopf's handlers on Quintant"),
    "lean": ("lean kopf", "lean, on Quintant"),
}
METHOD = (
    "as of `reconcile`: {resources:,} custom resources after {warm}, each with a ConfigMap and a "
    "status, against a fresh etcd and kube-apiserver for each; {rounds} rounds in turn, and the "
    "medians. CPU is that of the operator's process for each resource, its handlers included; "
    "memory what is resident {settle:g} s after the last status."
)


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure both pairs, one after the other."""
    found = operators([name for pair in PAIRS.values() for name in pair], say)
    costs: dict[str, list[Cost]] = {name: [] for name in found}
    for number in range(sizes.rounds):
        for name, operator in found.items():
            say(f"kopf: {name}, round {number + 1} of {sizes.rounds}")
            with envtest_server(sizes) as server:
                costs[name].append(measure(operator, server, sizes))
    yield Table(
        f"kopf's handlers ({sizes.resources:,} resources)",
        METHOD.format(
            resources=sizes.resources, warm=WARM, rounds=sizes.rounds, settle=SETTLE_SECONDS
        ),
        ("", "CPU", "memory"),
        [
            (name, f"{_cpu(rounds):.2f} ms", f"{_memory(rounds):.1f} MB")
            for name, rounds in costs.items()
        ],
        [
            budget
            for pair, (theirs, ours) in PAIRS.items()
            for budget in _budgets(pair, costs[theirs], costs[ours])
        ],
    )


def _cpu(rounds: list[Cost]) -> float:
    return median(each.milliseconds for each in rounds)


def _memory(rounds: list[Cost]) -> float:
    return median(each.settled for each in rounds)


def _budgets(pair: str, theirs: list[Cost], ours: list[Cost]) -> Iterator[Budget]:
    cpu, memory = _cpu(ours) / _cpu(theirs), _memory(ours) / _memory(theirs)
    what = f"handlers with {pair}" if pair != "lean" else "lean handlers"
    yield Budget(
        f"{what}: at most {BUDGET_HANDLERS_CPU} of kopf's CPU",
        f"{cpu:.2f}",
        cpu <= BUDGET_HANDLERS_CPU,
    )
    yield Budget(
        f"{what}: at most {BUDGET_HANDLERS_MEMORY} of its memory",
        f"{memory:.2f}",
        memory <= BUDGET_HANDLERS_MEMORY,
    )
