"""The data plane of Portal Expose beside frp, chisel and no tunnel: what it costs (here), and what
it bears (`portal_load`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks import portal_load
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from benchmarks.tunnel_load import DOWNLOADS, Figures
from benchmarks.tunnel_programs import Say, TunnelProgram, service, ways
from processes.usage import MEGABYTE, usage

CONNECTIONS = 32
BYTES_PER_REQUEST = 48 * 1024
"""Of the download, for each small request of the run: 128 MB for 3,000."""
FEW = 100
"""Requests beside the download."""
RATE, MEGABYTES, ADDED = 2000.0, 50.0, 2.0
CHISEL_SHARE, FRP_TIMES = 0.5, 1.5
"""Of their requests per core: chisel reads no HTTP at all."""
COLUMNS = (
    "", "p50", "p99", "requests/s", "MB/s", "requests/core", "MB/core", "CPU of a request",
    "CPU of a MB", "RSS (both)",
)  # fmt: skip
METHOD = (
    "Every part is a process of its own on this machine: a Service on a bare uvloop protocol, "
    "relay and tunnel (TLS, HTTP read and routed, here and in frp; SSH over WebSocket, TCP "
    "forwarded, in chisel), and the visitors. 1 KiB answers over one kept-alive connection (p50, "
    f"p99), then over {CONNECTIONS} at once (requests/s), then {DOWNLOADS} downloads of {{size:,}} "
    "MB, one after another, the fastest of which counts. What a "
    "core carries is of the relay alone, by the CPU time it took; CPU times are of relay + tunnel. "
    "Promises are about CPU, which depends least on what else the machine does."
)


@dataclass(frozen=True, slots=True)
class Way:
    """What one way to the Service did, and what it cost its relay."""

    name: str
    figures: Figures
    rate: float = 0.0
    """Requests per second of the relay's CPU."""
    megabytes: float = 0.0
    """The same, of one download."""
    request: str = "-"
    """CPU time of a request, in relay and tunnel."""
    megabyte: str = "-"
    """CPU time of a megabyte, in both."""
    rss: str = "-"

    @property
    def row(self) -> tuple[str, ...]:
        """A line of the table."""
        found = self.figures
        return (
            self.name, f"{found.p50:.2f} ms", f"{found.p99:.2f} ms", f"{found.rate:,.0f}",
            f"{found.megabytes:.0f}", f"{self.rate:,.0f}" if self.rate else "-",
            f"{self.megabytes:,.0f}" if self.megabytes else "-", self.request, self.megabyte,
            self.rss,
        )  # fmt: skip


def run(sizes: Sizes, say: Say) -> Iterator[Table]:
    """Measure each way to the same Service, in turn, as often as there are rounds; then load it."""
    found = ways(say)
    size = sizes.requests * BYTES_PER_REQUEST
    rounds = [_round(sizes.requests, size, found, say) for _ in range(sizes.rounds)]
    yield Table(
        "Tunnels of Portal Expose",
        METHOD.format(size=round(size / 1e6)),
        COLUMNS,
        [way.row for each in rounds for way in each],
        _budgets(rounds),
    )
    load = portal_load.Load(sizes.requests // 3, sizes.objects, sizes.requests)
    yield from portal_load.run(load, found, say)


def _round(requests: int, size: int, found: Sequence[TunnelProgram], say: Say) -> list[Way]:
    measured = []
    with service() as port:
        for way in found:
            say(f"portal: what it costs: {way.name}")
            with way.start(port) as opened:
                measured.append(_measured(way.name, *opened, requests, size))
    return measured


def _measured(name: str, port: int, pids: Sequence[int], requests: int, size: int) -> Way:
    """Requests first, then the downloads, with what the CPU of both programs did for each."""
    start = _cpu(pids)
    found = _visited(port, requests, 1)
    between = _cpu(pids)
    found.megabytes = _visited(port, FEW, size).megabytes
    end = _cpu(pids)
    if not pids:
        return Way(name, found)
    each = [
        (after - before) / _made(requests) for before, after in zip(start, between, strict=True)
    ]
    beside = [cost * _made(FEW) for cost in each]
    times = zip(between, end, beside, strict=True)
    carried = DOWNLOADS * size / 1e6
    mega = [(after - before - other) / carried for before, after, other in times]
    rss = " + ".join(f"{usage(pid).rss / MEGABYTE:.0f} MB" for pid in pids)
    costs = _sum(each, 1e6, "µs"), _sum(mega, 1e3, "ms")
    return Way(name, found, 1 / each[0], 1 / mega[0], *costs, rss)


def _sum(seconds: Sequence[float], scale: float, unit: str) -> str:
    digits = 0 if scale > 1e3 else 1
    return " + ".join(f"{each * scale:.{digits}f}" for each in seconds) + f" {unit}"


def _budgets(rounds: list[list[Way]]) -> list[Budget]:
    ours = [ways[1] for ways in rounds]
    rate, speed = max(way.rate for way in ours), max(way.megabytes for way in ours)
    added = min(ways[1].figures.p50 - ways[0].figures.p50 for ways in rounds)
    return [
        Budget(f"a core carries {RATE:,.0f} requests/s", f"{rate:,.0f}", rate >= RATE),
        Budget(f"and {MEGABYTES:.0f} MB/s of one stream", f"{speed:,.0f}", speed >= MEGABYTES),
        Budget(f"adds less than {ADDED} ms (p50)", f"{added:.2f} ms", added < ADDED),
        *_beside(rounds, ours),
    ]


def _beside(rounds: list[list[Way]], ours: Sequence[Way]) -> Iterator[Budget]:
    """How it stands to those of the others that were measured; the best round of each counts."""
    rate = max(way.rate for way in ours)
    for name, share in (("chisel", CHISEL_SHARE), ("frp", FRP_TIMES)):
        if peer := _rounds_of(rounds, name):
            found = rate / max(way.rate for way in peer)
            promise = f"requests of a relay's core, at least {share} x {name}'s"
            yield Budget(promise, f"{found:.2f} x", found >= share)
    if peer := _rounds_of(rounds, "frp"):
        fastest = [max(way.figures.megabytes for way in each) for each in (ours, peer)]
        found = fastest[0] / fastest[1]
        yield Budget("a download at least as fast as frp's", f"{found:.2f} x", found >= 1)


def _rounds_of(rounds: list[list[Way]], name: str) -> list[Way]:
    return [way for each in rounds for way in each if way.name.startswith(name)]


def _visited(port: int, requests: int, size: int) -> Figures:
    numbers = (str(requests), str(CONNECTIONS), str(size))
    return answer("tunnel_load", "load", "127.0.0.1", str(port), *numbers, to=Figures)


def _made(requests: int) -> int:
    """How many requests visitors really make: some to begin with, and some alone."""
    return requests // 20 + requests // 4 + requests // CONNECTIONS * CONNECTIONS


def _cpu(pids: Sequence[int]) -> list[float]:
    return [usage(pid).cpu for pid in pids]
