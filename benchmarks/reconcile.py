"""What a reconcile costs: one operator on Quintant, on other runtimes, and on none.

Each operator is a process of its own, over TLS, against a real API server of its own; a third
process makes the custom resources and watches them being reconciled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from benchmarks.competitors import MODULES, PEERS, Operator, operators
from benchmarks.envtest_server import EnvtestServer, envtest_server
from benchmarks.greeter_load import Outcome
from benchmarks.report import Budget, Table, times
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from processes.usage import MEGABYTE, cpu, usage

NAMES = (*MODULES, *PEERS)
RIVAL = "controller-runtime"
# Resources before the measured ones, so that imports, connections and caches are warm.
WARM = 50
# A second load, slow enough that nothing queues: what one user waits for one change.
PACED, PACED_RATE = 100, 20.0
# kopf keeps the worker of an object for 5 s; memory is read after that.
SETTLE_SECONDS = 6.0

METHOD = (
    "each operator makes a ConfigMap for every custom resource and then writes its status; one "
    "process each on uvloop over TLS, {workers} workers, against a fresh etcd and kube-apiserver "
    "each. {warm} resources warm it up, {resources:,} are then created as fast as the server "
    "takes them. CPU is user + system of the operator's process until {settle:g} s after the last "
    "status, divided by the resources; /s counts statuses seen by a third process; p50 and p99 "
    "are from a creation to its status in the watch, at {rate:g}/s. Quintant and the bare loop "
    "apply the child and the status. kopf is used as its documentation teaches it: a plain "
    "handler, in one of {workers} threads, makes the child with the official client, and the "
    "status is a patch. The lean ones are coroutines instead, not limited in number, that post "
    "the child through a bare aiohttp session, which leaves kopf itself to be measured; the quiet "
    "one does not log its handlers either. kopf's handlers on Quintant are the modules of kopf and "
    "lean kopf, unchanged. The bare loop neither retries, caches nor counts. "
    "controller-runtime (Go) and kube-rs (Rust) use every core, ours and kopf one. "
    "controller-runtime creates the child and updates the status, as its documentation teaches; "
    "where it applies it sends the child once more for the event of its own write, as kube-rs "
    "does, for neither remembers what it applied; kube-rs keeps no cache of children. The server's "
    "CPU is that of etcd and kube-apiserver, the creations included."
)

BUDGET_MS = 1.1
BUDGET_SHARE = 6.0
BUDGET_SPEED = 2.5
BUDGET_HANDLERS_CPU, BUDGET_HANDLERS_MEMORY = 0.5, 0.6


@dataclass(frozen=True, slots=True)
class Cost:
    """What one operator used per resource, and how fast it was."""

    milliseconds: float
    rate: float
    p50: float
    p99: float
    peak: float
    settled: float
    server: float


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure the operators one after the other."""
    found = operators(NAMES, say)
    costs: dict[str, list[Cost]] = {name: [] for name in found}
    for number in range(sizes.rounds):
        for name, operator in found.items():
            say(f"reconcile: {name}, round {number + 1} of {sizes.rounds}")
            with envtest_server(sizes) as server:
                costs[name].append(measure(operator, server, sizes))
    best = {name: min(rounds, key=lambda cost: cost.milliseconds) for name, rounds in costs.items()}
    yield Table(
        f"A reconcile that creates a child and writes a status ({sizes.resources:,} resources)",
        METHOD.format(
            warm=WARM,
            settle=SETTLE_SECONDS,
            rate=PACED_RATE,
            workers=sizes.workers,
            resources=sizes.resources,
        ),
        ("", "CPU", "reconciles", "p50", "p99", "RSS peak", "settled", "server CPU"),
        [_row(name, cost) for name, cost in best.items()],
        _budgets(best),
    )


def measure(operator: Operator, server: EnvtestServer, sizes: Sizes) -> Cost:
    """What one operator takes for a burst of resources, and for as many as it has time for."""
    with operator.running(server.env) as process:
        _load(server.env, "warm", WARM)
        before, server_before = usage(process.pid), cpu(server.pids)
        burst = _load(server.env, "burst", sizes.resources)
        time.sleep(SETTLE_SECONDS)
        after, server_after = usage(process.pid), cpu(server.pids)
        paced = _load(server.env, "paced", PACED, "--rate", str(PACED_RATE))
    return Cost(
        milliseconds=(after.cpu - before.cpu) / sizes.resources * 1000,
        rate=sizes.resources / burst.seconds,
        p50=_percentile(paced, 0.50),
        p99=_percentile(paced, 0.99),
        peak=after.peak / MEGABYTE,
        settled=after.rss / MEGABYTE,
        server=(server_after - server_before) / sizes.resources * 1000,
    )


def _load(env: Mapping[str, str], prefix: str, count: int, *more: str) -> Outcome:
    return answer("greeter_load", prefix, str(count), *more, to=Outcome, env=env)


def _percentile(outcome: Outcome, share: float) -> float:
    """In milliseconds."""
    latencies = outcome.latencies
    return latencies[min(len(latencies) - 1, int(len(latencies) * share))] * 1000


def _row(name: str, cost: Cost) -> tuple[str, ...]:
    return (
        name,
        f"{cost.milliseconds:.2f} ms",
        f"{cost.rate:.0f}/s",
        f"{cost.p50:.1f} ms",
        f"{cost.p99:.1f} ms",
        f"{cost.peak:.0f} MB",
        f"{cost.settled:.0f} MB",
        f"{cost.server:.1f} ms",
    )


def _budgets(costs: Mapping[str, Cost]) -> list[Budget]:
    ours, kopf, bare = costs["Quintant"], costs["kopf"], costs["bare loop"]
    share = kopf.milliseconds / ours.milliseconds
    speed = ours.rate / kopf.rate
    above = ours.milliseconds / bare.milliseconds
    handlers = costs["kopf's handlers on Quintant"]
    share_of_cpu, share_of_memory = (
        handlers.milliseconds / kopf.milliseconds,
        handlers.settled / kopf.settled,
    )
    rival = costs.get(RIVAL)
    beside = f", {ours.milliseconds / rival.milliseconds:.2f} of {RIVAL}'s" if rival else ""
    return [
        Budget(
            f"CPU at most {BUDGET_MS} ms",
            f"{ours.milliseconds:.2f} ms, {above:.2f} of the bare loop's{beside}",
            ours.milliseconds <= BUDGET_MS,
        ),
        Budget(
            f"CPU at most 1/{BUDGET_SHARE:.0f} of kopf's",
            f"1/{share:.1f}",
            share >= BUDGET_SHARE,
        ),
        Budget(
            f"at least {BUDGET_SPEED}x kopf's reconciles/s (both wait for the same server)",
            times(ours.rate, kopf.rate),
            speed >= BUDGET_SPEED,
        ),
        Budget(
            f"kopf's handlers on Quintant: at most {BUDGET_HANDLERS_CPU} of kopf's CPU",
            f"{share_of_cpu:.2f}",
            share_of_cpu <= BUDGET_HANDLERS_CPU,
        ),
        Budget(
            f"kopf's handlers on Quintant: at most {BUDGET_HANDLERS_MEMORY} of kopf's memory",
            f"{share_of_memory:.2f}",
            share_of_memory <= BUDGET_HANDLERS_MEMORY,
        ),
    ]
