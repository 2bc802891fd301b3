"""What shards cost, and what further processes of one machine bring.

One sharded program against a real API server, as one process and as two under a parent, and the
operator of the other benchmarks without shards beside itself with them.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.competitors import Operator
from benchmarks.envtest_server import (
    EnvtestServer,
    count_lease_patches,
    envtest_server,
    server_metrics,
)
from benchmarks.greeter_load import Outcome
from benchmarks.operators.kind import Greeter, GreeterSpec
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer, module_command
from foreign.process import free_ports
from processes.running import running_command
from processes.usage import MEGABYTE, cpu
from quintant.api.coordination import Lease
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.core.gather import each
from quintant.core.object import ObjectMeta, Request
from quintant.runtime.cache.client import Client
from quintant.runtime.shard.group_lease import MAP
from quintant.runtime.shard.layout import by_key, range_of
from quintant.runtime.shard.plan import quotas
from quintant.runtime.shard.shard_map import decode_map

PROGRAM = Path(__file__).parent / "operators/with_shards.py"
RANGES = 128
KEYS_OF, MEMBERS = 10_000, 5
WARM, SETTLE_SECONDS = 50, 6.0
REST_SECONDS, AT_REST_SECONDS = 40.0, 20.0
AT_ONCE = 8
POLL_SECONDS = 0.25
"""A scrape costs milliseconds of what is measured."""
GROUP = "greeter"
"""The manager of that operator, and so its Lease."""
QUIET_LOAD = 0.5
"""Of a core, before the run: above it, what is measured is the waiting of others, too."""

_RECONCILED = re.compile(
    r'^controller_runtime_reconcile_total\{(?=.*result="success").*\} (\S+)$', re.MULTILINE
)

SERVER_SHARE = 1.15
SPEED, FULLEST, PROCESS_MB, WRITES, ONE_MEMBER, PART = 1.7, 1.1, 35.0, 0.55, 1.03, 0.42
SHARES = {2: 1.05, 5: 1.10}

METHOD = (
    "a fresh etcd and kube-apiserver each. Computing: {resources:,} Greeters, each reconciled for "
    "10 ms of processor time without a write; from the first reconcile to the last, by the "
    "program's own counter, as one process and as two of --processes. Memory: what the kernel says "
    "that a child shares with nobody (USS), before there are objects; and how much that grows by "
    "{objects:,} Greeters with a ConfigMap each, of one member and of one of three. Rest: PATCHes "
    "of Leases that the server counted in {rest:g} s, by two members. CPU: the operator of "
    "`reconcile` (a child and a status), all members together, without shards and with one, "
    "two and five members that have divided the ranges, one after the other on one server, in as "
    "many rounds as --rounds says, of which the best counts; what they do at rest until "
    "{settle:g} s after it is part of that, so --quick says little of it. What that is, was "
    "measured for {at_rest:g} s before: the second figure is without it. "
    "The fullest member is computed: keys that differ by a number, ranges as quotas divide them."
)


@dataclass(frozen=True, slots=True, order=True)
class MemberCost:
    """What all members together need for one Greeter, in milliseconds of CPU."""

    total: float
    beside_rest: float
    """Without what they would have needed at rest in the same time."""
    rest: float
    """At rest, in a second."""
    server: float
    """What the API server and etcd needed."""

    def __str__(self) -> str:
        return (
            f"{self.total:.2f} ms, {self.beside_rest:.2f} beside {self.rest:.1f} ms/s at rest; "
            f"the server {self.server:.1f} ms"
        )


@dataclass(frozen=True, slots=True)
class Processes:
    """What a sharded program did as so many processes."""

    seconds: float
    memory: float
    """Megabytes that a child has alone; 0 without children."""
    writes: float
    """To Leases in a second, by each member."""


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure one after the other."""
    load = psutil.getloadavg()[0] / (psutil.cpu_count() or 1)
    computing = {count: _computed(count, sizes, say) for count in (1, 2)}
    costs = _costs(sizes, say)
    grown = {members: _grown(members, sizes, say) for members in (1, 3)}
    one, two = computing[1], computing[2]
    fullest = fullest_share(MEMBERS, KEYS_OF)
    quiet = "" if load < QUIET_LOAD else f", load {load:.1f} a core before the run: NOT QUIET"
    yield Table(
        f"Shards ({sizes.resources:,} resources{quiet})",
        METHOD.format(
            resources=sizes.resources,
            objects=sizes.objects,
            rest=REST_SECONDS,
            settle=SETTLE_SECONDS,
            at_rest=AT_REST_SECONDS,
        ),
        ("", "measured"),
        [
            ("computing, 1 process", f"{one.seconds:.1f} s"),
            ("computing, 2 processes", f"{two.seconds:.1f} s"),
            ("computing, 5 processes", "not measured: it needs 8 cores"),
            ("computing, controller-runtime", "not measured"),
            ("memory of a further process", f"{two.memory:.0f} MB"),
            ("memory of one of 3 beside 1", f"{grown[3]:.1f} MB beside {grown[1]:.1f} MB"),
            ("writes of a member at rest", f"{two.writes:.2f}/s"),
            *((f"CPU of a reconcile, {_named(n)}", str(cost)) for n, cost in costs.items()),
            (f"fullest of {MEMBERS} members, {KEYS_OF:,} keys", f"{fullest:.2f} of the mean"),
        ],
        _budgets(one, two, costs, fullest, grown),
    )


def fullest_share(members: int, keys: int) -> float:
    """Keys of the fullest member, as a share of the mean."""
    wanted = quotas([f"m{number}" for number in range(members)], RANGES)
    owners = [name for name, count in wanted.items() for _ in range(count)]
    held = dict.fromkeys(wanted, 0)
    for number in range(keys):
        key = by_key(Request(f"order-{number}", "default"))
        held[owners[range_of(key, RANGES)]] += 1
    return max(held.values()) * members / keys


def _budgets(
    one: Processes,
    two: Processes,
    costs: Mapping[int, MemberCost],
    fullest: float,
    grown: Mapping[int, float],
) -> list[Budget]:
    speed = one.seconds / two.seconds
    beside, part = costs[1].total / costs[0].total, grown[3] / grown[1]
    found = [
        Budget(f"2 processes at least {SPEED}x as fast", f"{speed:.2f}x", speed >= SPEED),
        Budget(f"a further process at most {PROCESS_MB:g} MB", f"{two.memory:.0f} MB",
               two.memory <= PROCESS_MB),
        Budget(f"at most {WRITES} writes/s of a member at rest", f"{two.writes:.2f}",
               two.writes <= WRITES),
        Budget(f"one member at most {ONE_MEMBER}x the CPU without shards", f"{beside:.2f}x",
               beside <= ONE_MEMBER),
        Budget(f"one of 3 at most {PART}x the memory of one", f"{part:.2f}x", part <= PART),
        Budget(f"the fullest at most {FULLEST}x the mean", f"{fullest:.2f}x", fullest <= FULLEST),
    ]  # fmt: skip
    most_members = max(SHARES)
    server = costs[most_members].server / costs[1].server
    found.append(
        Budget(f"{most_members} members at most {SERVER_SHARE}x the server's CPU",
               f"{server:.2f}x", server <= SERVER_SHARE)
    )  # fmt: skip
    for members, most in SHARES.items():
        ratio = costs[members].total / costs[1].total
        found.append(
            Budget(f"{members} members at most {most}x the CPU", f"{ratio:.2f}x", ratio <= most)
        )
    return found


def _computed(processes: int, sizes: Sizes, say: Callable[[str], None]) -> Processes:
    say(f"shards: computing, {processes} processes")
    with envtest_server(sizes) as server:
        asyncio.run(_make(server, sizes.resources))
        (port,) = free_ports(1)
        command = [
            *(sys.executable, "-m", "quintant", "run", str(PROGRAM), "--probes="),
            *("--metrics", f"127.0.0.1:{port}", "--processes", str(processes)),
        ]
        with running_command(command, env=server.env) as process:
            began = _reached(port, 1)
            seconds = _reached(port, sizes.resources) - began
            children = psutil.Process(process.pid).children()
            memory = max((child.memory_full_info().uss for child in children), default=0)
            before = count_lease_patches(server_metrics(server.env))
            time.sleep(REST_SECONDS)
            writes = count_lease_patches(server_metrics(server.env)) - before
    return Processes(seconds, memory / MEGABYTE, writes / REST_SECONDS / processes)


def _costs(sizes: Sizes, say: Callable[[str], None]) -> dict[int, MemberCost]:
    """What so many members cost; 0 members are one process unsharded.

    In turns on one server, so that what else the machine does is the same for all.
    """
    found: dict[int, MemberCost] = {}
    with envtest_server(sizes) as server:
        for number in range(sizes.rounds):
            for members in (0, 1, *SHARES):
                say(f"shards: CPU of a reconcile, {_named(members)}, round {number + 1}")
                cost = _cost(server, members, f"{number}-{members}", sizes)
                found[members] = min(cost, found.get(members, cost))
    return found


def _named(members: int) -> str:
    return f"members: {members}" if members else "no shards"


def _cost(server: EnvtestServer, members: int, name: str, sizes: Sizes) -> MemberCost:
    env = {"BENCH_SHARDS": "1"} if members else {}
    operator = Operator(module_command("operators.with_quintant"), env)
    with ExitStack() as running:
        pids = [
            running.enter_context(operator.running(server.env)).pid for _ in range(members or 1)
        ]
        _load(server, f"warm-{name}", WARM)
        if members:
            asyncio.run(_divided(server, members))
        time.sleep(SETTLE_SECONDS)
        at_rest = cpu(pids)
        time.sleep(AT_REST_SECONDS)
        before, began, served = cpu(pids), time.monotonic(), cpu(server.pids)
        _load(server, f"burst-{name}", sizes.resources)
        time.sleep(SETTLE_SECONDS)
        used, seconds = cpu(pids) - before, time.monotonic() - began
        served = cpu(server.pids) - served
    rest = (before - at_rest) / AT_REST_SECONDS
    each = 1000 / sizes.resources
    return MemberCost(used * each, (used - rest * seconds) * each, rest * 1000, served * each)


def _grown(members: int, sizes: Sizes, say: Callable[[str], None]) -> float:
    """Megabytes that a member has more with the objects than without, the mean of all."""
    say(f"shards: memory, {members} members")
    operator = Operator(module_command("operators.with_quintant"), {"BENCH_SHARDS": "1"})
    with envtest_server(sizes) as server, ExitStack() as running:
        pids = [running.enter_context(operator.running(server.env)).pid for _ in range(members)]
        _load(server, "warm", WARM)
        asyncio.run(_divided(server, members))
        time.sleep(SETTLE_SECONDS)
        before = _memory(pids)
        _load(server, "burst", sizes.objects)
        time.sleep(SETTLE_SECONDS)
        return (_memory(pids) - before) / members


async def _divided(server: EnvtestServer, members: int) -> None:
    """Return once each of the members holds its share of the ranges."""
    transport = HttpTransport(Config.load(Path(server.env["KUBECONFIG"])))
    client = Client(Rest(transport))
    try:
        divided = False
        while not divided:
            await asyncio.sleep(POLL_SECONDS)
            divided = _is_divided(await client.find(Lease, GROUP, "default"), members)
    finally:
        await transport.close()


def _is_divided(lease: Lease | None, members: int) -> bool:
    text = lease.metadata.annotations.get(MAP, "") if lease is not None else ""
    if not text:
        return False
    shards = decode_map(text)
    held = [len(shards.epochs(member)) for member in shards.holders()]
    return not shards.free() and len(held) == members and max(held) - min(held) <= 2


def _memory(pids: Sequence[int]) -> float:
    return sum(psutil.Process(pid).memory_full_info().uss for pid in pids) / MEGABYTE


async def _make(server: EnvtestServer, count: int) -> None:
    """Greeters that nobody works on yet."""
    transport = HttpTransport(Config.load(Path(server.env["KUBECONFIG"])))
    client = Client(Rest(transport))

    async def create(number: int) -> None:
        meta = ObjectMeta(name=f"computed-{number}", namespace="default")
        await client.create(Greeter(metadata=meta, spec=GreeterSpec(message="hello")))

    try:
        await each(range(count), create, limit=AT_ONCE)
    finally:
        await transport.close()


def _reached(port: int, count: int) -> float:
    """When a program had so many reconciles behind it, all of its processes together."""
    while _reconciles(port) < count:
        time.sleep(POLL_SECONDS)
    return time.monotonic()


def _reconciles(port: int) -> float:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as found:
            return sum(map(float, _RECONCILED.findall(found.read().decode())))
    except OSError:
        return 0.0


def _load(server: EnvtestServer, prefix: str, count: int) -> Outcome:
    return answer("greeter_load", prefix, str(count), to=Outcome, env=server.env)
