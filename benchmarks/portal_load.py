"""What a tunnel bears: a thousand visits at once, ten thousand silent WebSockets, an attack."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from benchmarks.report import Budget, Table
from benchmarks.subprocesses import answer, running
from benchmarks.tunnel_crowds import (
    ADDRESSES,
    CONNECTIONS,
    SETTLE_SECONDS,
    SocketFigures,
    VisitFigures,
)
from benchmarks.tunnel_load import WAIT_SECONDS
from benchmarks.tunnel_programs import Say, Tunnelled, TunnelProgram, service
from processes.usage import MEGABYTE, usage

WARM_VISITS = 100
ATTACK = 128
"""Half-sent requests that shut everybody out of a tunnel that counts its visitors."""
MEMORY_MEGABYTES = 256.0
P99_MILLISECONDS = 100.0
"""Of other visitors beside an attack, which takes CPU of the same machine."""


class Load(NamedTuple):
    """How many of each."""

    visits: int
    sockets: int
    requests: int


def run(load: Load, ways: Sequence[TunnelProgram], say: Say) -> Iterator[Table]:
    """Each trial through each way, in turn."""
    yield _visits_table(load, ways, say)
    yield _sockets_table(load, ways[1:], say)
    yield _attack_table(load, ways, say)


def _visits_table(load: Load, ways: Sequence[TunnelProgram], say: Say) -> Table:
    rows, ours = [], VisitFigures(0, 0)
    for way in ways:
        say(f"portal: {load.visits:,} visits at once: {way.name}")
        with service() as port, way.start(port) as opened:
            answer("tunnel_crowds", "visits", str(opened.port), str(WARM_VISITS), to=VisitFigures)
            before = _cpu(opened)
            found = answer(
                "tunnel_crowds", "visits", str(opened.port), str(load.visits), to=VisitFigures
            )
            spent = [after - then for after, then in zip(_cpu(opened), before, strict=True)]
        ours = found if way.name == "quintant" else ours
        cpu = [f"{each * 1000:.0f} ms" for each in spent] or ["-", "-"]
        rows.append((way.name, f"{found.most:,}", *_seen(found), *cpu))
    return Table(
        f"{load.visits:,} visits at once",
        f"Each visitor has a connection of its own, from one of {len(ADDRESSES)} addresses; the "
        f"Service answers after {WAIT_SECONDS:.0f} s, so that all are under way together (at once: "
        "how many the Service had). p50 and p99 are what was added to that.",
        ("", "at once", "refused", "p50", "p99", "CPU of the relay", "CPU of the tunnel"),
        rows,
        [
            Budget("none refused", f"{ours.refused}", not ours.refused),
            Budget("all at once", f"{ours.most:,}", ours.most >= load.visits),
        ],
    )


class _Held(NamedTuple):
    """What WebSockets that say nothing cost."""

    sockets: SocketFigures
    beside: VisitFigures
    seconds: float
    before: list[float]
    idle: list[float]
    peak: list[float]
    """Megabytes of relay and tunnel: with none, with all of them, and with visits beside them."""


def _sockets_table(load: Load, ways: Sequence[TunnelProgram], say: Say) -> Table:
    rows, ours, refusals = [], 0.0, 0
    for way in ways:
        say(f"portal: {load.sockets:,} silent WebSockets: {way.name}")
        with service() as port, way.start(port) as opened:
            held = _held(load, opened)
        if way.name == "quintant":
            ours, refusals = max(held.peak), held.sockets.refused + held.beside.refused
        refused = f"{held.sockets.refused} + {held.beside.refused}"
        memory = [_sum(each) for each in (held.before, held.idle, held.peak)]
        rows.append((way.name, f"{held.sockets.open:,}", refused, f"{held.seconds:.1f} s", *memory))
    return Table(
        f"{load.sockets:,} silent WebSockets through one tunnel",
        f"They are opened {load.sockets:,} in all, stay silent, and then {load.visits:,} visits "
        "come at once beside them; one WebSocket of a hundred is asked in the end, and answers. "
        "Refused are WebSockets + visits. Memory is resident, of relay + tunnel.",
        ("", "open", "refused", "opened in", "memory before", "silent", "and visits (most)"),
        rows,
        [
            Budget("none refused", f"{refusals}", not refusals),
            Budget(
                f"relay and tunnel in {MEMORY_MEGABYTES:.0f} MB each",
                f"{ours:.0f} MB",
                ours <= MEMORY_MEGABYTES,
            ),
        ],
    )


def _held(load: Load, opened: Tunnelled) -> _Held:
    before, began = _memory(opened), time.monotonic()
    numbers = (str(opened.port), str(load.sockets), str(load.visits))
    with running("tunnel_crowds", "sockets", *numbers) as visitors:
        assert visitors.stdout is not None
        sockets = msgspec.json.decode(visitors.stdout.readline(), type=SocketFigures)
        seconds = time.monotonic() - began
        time.sleep(SETTLE_SECONDS / 2)
        idle = _memory(opened)
        beside = msgspec.json.decode(visitors.stdout.readline(), type=VisitFigures)
        peak = [usage(pid).peak / MEGABYTE for pid in opened.pids]
    return _Held(sockets, beside, seconds, before, idle, peak)


def _attack_table(load: Load, ways: Sequence[TunnelProgram], say: Say) -> Table:
    rows, budgets = [], list[Budget]()
    sizes = (0, ATTACK, load.visits)
    for way in ways:
        say(f"portal: half-sent requests: {way.name}")
        with service() as port, way.start(port) as opened:
            found = [_beside(opened, size, load.requests) for size in sizes]
        rows.append((way.name, *(cell for each in found for cell in _seen(each))))
        if way.name == "quintant":
            budgets = _attack_budgets(found)
    heads = [f"{what} ({size:,})" for size in sizes for what in ("refused", "p50", "p99")]
    return Table(
        "Visitors beside half-sent requests of one address",
        f"One address has none, {ATTACK} and then {load.visits:,} POSTs under way of which it sent "
        "the head and some bytes, by length and in chunks in turn, and sends no more. A second "
        f"later {CONNECTIONS} visitors of other addresses ask {load.requests:,} times.",
        ("", *heads),
        rows,
        budgets,
    )


def _attack_budgets(found: Sequence[VisitFigures]) -> list[Budget]:
    refused, worst = sum(each.refused for each in found), max(each.p99 for each in found)
    return [
        Budget("none of the others refused", f"{refused}", not refused),
        Budget(
            f"their p99 below {P99_MILLISECONDS:.0f} ms",
            f"{worst:.1f} ms",
            worst < P99_MILLISECONDS,
        ),
    ]


def _beside(opened: Tunnelled, half_sent: int, requests: int) -> VisitFigures:
    numbers = (str(opened.port), str(half_sent), str(requests))
    return answer("tunnel_crowds", "beside", *numbers, to=VisitFigures)


def _seen(found: VisitFigures) -> tuple[str, str, str]:
    return f"{found.refused:,}", f"{found.p50:.1f} ms", f"{found.p99:.1f} ms"


def _cpu(opened: Tunnelled) -> list[float]:
    return [usage(pid).cpu for pid in opened.pids]


def _memory(opened: Tunnelled) -> list[float]:
    return [usage(pid).rss / MEGABYTE for pid in opened.pids]


def _sum(megabytes: Sequence[float]) -> str:
    return " + ".join(f"{each:.0f}" for each in megabytes) + " MB"
