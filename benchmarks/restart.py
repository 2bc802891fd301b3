"""What a restart costs: every custom resource and its child are as they should be, and rest.

One operator on Quintant, on controller-runtime and on kube-rs, each a process of its own, over TLS,
against a real API server of its own. The first process makes everything, then ends; a second one of
the same program is measured from its start until it rests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.competitors import Operator, operators
from benchmarks.envtest_server import EnvtestServer, envtest_server, write_requests
from benchmarks.greeter_load import Outcome
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from processes.usage import MEGABYTE, Usage, cpu, usage

NAMES = ("Quintant", "controller-runtime", "controller-runtime, apply", "kube-rs")
RIVAL = "controller-runtime"
# A process rests when it has used less than this share of a core for so long.
REST_SHARE, REST_SECONDS = 0.02, 3.0
LONGEST_SECONDS = 600.0

METHOD = (
    "an operator makes a ConfigMap and a status for each of {objects:,} custom resources, and "
    "ends; the same program is started again, and measured until it uses less than {share:.0%} "
    "of a core for {rest:g} s, and writes nothing more. Writes are requests, as kube-apiserver "
    "counts them. CPU is user + system of the operator's process with its start, and of etcd "
    "and kube-apiserver together, which serve the initial lists. {workers} workers each, no "
    "limit on the client's side. controller-runtime compares the child with its cache "
    "(CreateOrUpdate), as its documentation teaches; kube-rs, and controller-runtime where it "
    "applies, send every child again, for they have nothing to compare it with, and the server "
    "finds that nothing changes. kube-rs keeps no cache of children, which makes it the "
    "smallest. An operator on kopf has no part in it: unless it has a handler for a restart it "
    "does nothing, and puts nothing right either."
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one restart used."""

    writes: int
    seconds: float
    operator: float
    server: float
    peak: float
    settled: float


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure the operators one after the other."""
    costs: dict[str, list[Cost]] = {}
    found = operators(NAMES, say)
    for number in range(sizes.rounds):
        for name, operator in found.items():
            say(f"restart: {name}, round {number + 1} of {sizes.rounds}")
            with envtest_server(sizes) as server:
                costs.setdefault(name, []).append(_measure(operator, server, sizes.objects))
    best = {name: min(rounds, key=lambda cost: cost.operator) for name, rounds in costs.items()}
    yield Table(
        f"A restart over {sizes.objects:,} custom resources at rest",
        METHOD.format(
            objects=sizes.objects, share=REST_SHARE, rest=REST_SECONDS, workers=sizes.workers
        ),
        ("", "writes", "at rest after", "CPU", "server CPU", "RSS peak", "settled"),
        [_row(name, cost) for name, cost in best.items()],
        _budgets(best),
    )


def _measure(operator: Operator, server: EnvtestServer, objects: int) -> Cost:
    with operator.running(server.env):
        answer("greeter_load", "rest", str(objects), to=Outcome, env=server.env)
    _rest(lambda: cpu(server.pids))
    before, written = cpu(server.pids), write_requests(server.env)
    began = time.monotonic()
    with operator.running(server.env) as process:
        rested = _settle(process.pid, server.env)
        used: Usage = usage(process.pid)
    return Cost(
        writes=write_requests(server.env) - written,
        seconds=rested - began,
        operator=used.cpu,
        server=cpu(server.pids) - before,
        peak=used.peak / MEGABYTE,
        settled=used.rss / MEGABYTE,
    )


def _settle(pid: int, env: Mapping[str, str]) -> float:
    """Wait until an operator rests and no longer writes: one may wait for a busy server."""
    seen, rested = -1, time.monotonic()
    while (now := write_requests(env)) != seen:
        seen, rested = now, _rest(lambda: usage(pid).cpu)
    return rested


def _rest(used: Callable[[], float]) -> float:
    """Wait until a process rests; the time at which it began to."""
    ends = time.monotonic() + LONGEST_SECONDS
    since, last = time.monotonic(), used()
    while time.monotonic() < ends:
        time.sleep(REST_SECONDS / 10)
        now, spent = time.monotonic(), used()
        if spent - last > REST_SHARE * (now - since):
            since, last = now, spent
        elif now - since >= REST_SECONDS:
            break
    return since


def _row(name: str, cost: Cost) -> tuple[str, ...]:
    return (
        name,
        f"{cost.writes:,}",
        f"{cost.seconds:.1f} s",
        f"{cost.operator:.2f} s",
        f"{cost.server:.2f} s",
        f"{cost.peak:.0f} MB",
        f"{cost.settled:.0f} MB",
    )


def _budgets(costs: Mapping[str, Cost]) -> list[Budget]:
    ours, rival = costs["Quintant"], costs.get(RIVAL)
    budgets = [Budget("zero writes", f"{ours.writes:,}", ours.writes == 0)]
    if rival is None:
        return budgets
    return [
        *budgets,
        _no_more("the operator's CPU", ours.operator, rival.operator),
        _no_more("the server's CPU", ours.server, rival.server),
    ]


def _no_more(what: str, ours: float, theirs: float) -> Budget:
    share = ours / theirs if theirs else 1.0
    promise = f"{what} no more than {RIVAL}'s"
    return Budget(promise, f"{share:.2f} of it", share <= 1.0)
