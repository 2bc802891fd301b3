"""The data plane of Portal Expose: what a relay and a tunnel cost, beside chisel and no tunnel.

chisel is built once with Go into the cache outside the repository; without Go it is left out, and
the run says so.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer, running
from benchmarks.tunnel_load import Figures
from benchmarks.usage import MEGABYTE, usage
from foreign import ProgramError
from foreign.catalogue import CHISEL

CONNECTIONS = 32
BYTES_PER_REQUEST = 48 * 1024
"""Of the download, for each small request of the run: 128 MB for 3,000."""
FEW = 100
"""Requests beside the download."""
RATE, MEGABYTES, ADDED = 2000.0, 50.0, 2.0
PATIENCE_SECONDS = 30.0
COLUMNS = (
    "", "p50", "p99", "requests/s", "MB/s", "requests/core", "MB/core", "CPU of a request",
    "CPU of a MB", "RSS (both)",
)  # fmt: skip
Say = Callable[[str], None]
METHOD = (
    "Every part is a process of its own on this machine: a Service on a bare uvloop protocol, "
    "relay and tunnel (TLS, HTTP read and routed, here; SSH over WebSocket, TCP forwarded, in "
    "chisel), and the visitors. 1 KiB answers over one kept-alive connection (p50, p99), then over "
    f"{CONNECTIONS} at once (requests/s), then one download of {{size:,}} MB. What a "
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
    """Measure each way to the same Service, in turn, as often as there are rounds."""
    chisel = _chisel(say)
    size = sizes.requests * BYTES_PER_REQUEST
    rounds = [_round(sizes.requests, size, chisel, say) for _ in range(sizes.rounds)]
    yield Table(
        "Tunnels of Portal Expose",
        METHOD.format(size=round(size / 1e6)),
        COLUMNS,
        [way.row for ways in rounds for way in ways],
        _budgets(rounds),
    )


def _round(requests: int, size: int, chisel: Path | None, say: Say) -> list[Way]:
    with _service() as service:
        say("portal: no tunnel")
        found = [_measured("no tunnel", service, (), requests, size)]
        say("portal: our relay and tunnel")
        with _ours(service) as (port, pids):
            found.append(_measured("quintant", port, pids, requests, size))
        if chisel is not None:
            say("portal: chisel")
            with _peer(chisel, service) as (port, pids):
                found.append(_measured(f"chisel {CHISEL.version}", port, pids, requests, size))
    return found


def _measured(name: str, port: int, pids: Sequence[int], requests: int, size: int) -> Way:
    """Requests first, then the download, with what the CPU of both programs did for each."""
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
    mega = [(after - before - other) / (size / 1e6) for before, after, other in times]
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
    ]


def _visited(port: int, requests: int, size: int) -> Figures:
    numbers = (str(requests), str(CONNECTIONS), str(size))
    return answer("tunnel_load", "load", "127.0.0.1", str(port), *numbers, to=Figures)


def _made(requests: int) -> int:
    """How many requests visitors really make: some to begin with, and some alone."""
    return requests // 20 + requests // 4 + requests // CONNECTIONS * CONNECTIONS


def _cpu(pids: Sequence[int]) -> list[float]:
    return [usage(pid).cpu for pid in pids]


@contextmanager
def _service() -> Iterator[int]:
    port = _free()
    with running("tunnel_load", "service", str(port)):
        _reached(port)
        yield port


@contextmanager
def _ours(service: int) -> Iterator[tuple[int, tuple[int, int]]]:
    tls, http, admin, own = (_free() for _ in range(4))
    with TemporaryDirectory() as folder, ExitStack() as stack:
        agent = [sys.executable, "-m", "quintant", "agent"]
        ports = ("--tls-port", str(tls), "--http-port", str(http), "--admin-port", str(admin))
        relay = stack.enter_context(_child([*agent, "relay", "--state", folder, *ports]))
        _reached(tls)
        line = ["tunnel", "expose", "--name", "bench", "--host", "127.0.0.1", "--port"]
        line += [str(service), "--relay", f"wss://relay.localhost:{tls}/relay"]
        env = {"PORTAL_CA_FILE": str(Path(folder) / "ca.crt")}
        place = ("--admin-addr", f"127.0.0.1:{own}")
        tunnel = stack.enter_context(_child([*agent, *line, *place], env))
        _answered(http)
        yield http, (relay.pid, tunnel.pid)


@contextmanager
def _peer(program: Path, service: int) -> Iterator[tuple[int, tuple[int, int]]]:
    control, port = _free(), _free()
    serve = [str(program), "server", "--host", "127.0.0.1", "--port", str(control), "--reverse"]
    with _child(serve) as server:
        _reached(control)
        way = f"R:127.0.0.1:{port}:127.0.0.1:{service}"
        with _child([str(program), "client", f"http://127.0.0.1:{control}", way]) as client:
            _answered(port)
            yield port, (server.pid, client.pid)


@contextmanager
def _child(line: list[str], env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(line, env={**os.environ, **(env or {})}, stdout=quiet, stderr=quiet)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _reached(port: int) -> None:
    def tried() -> bool:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True

    _until(tried)


def _answered(port: int) -> None:
    """Wait until a request gets the Service's answer."""

    def tried() -> bool:
        with socket.create_connection(("127.0.0.1", port), 1) as visitor:
            visitor.settimeout(1)
            visitor.sendall(b"GET / HTTP/1.1\r\nHost: bench.relay.localhost\r\n\r\n")
            return visitor.recv(65_536).startswith(b"HTTP/1.1 200")

    _until(tried)


def _until(tried: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            if tried():
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise TimeoutError("a program of the benchmark does not answer")


def _chisel(say: Say) -> Path | None:
    """chisel, from the cache or built into it; None, and a line that says so, without Go."""
    try:
        return CHISEL.provide(os.environ, report=lambda line: say(f"portal: {line}"))
    except ProgramError as error:
        say(f"portal: chisel left out: {error.why}")
        return None
