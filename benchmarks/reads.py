"""Watches while others read all the time: how late their events come, and what the loop is at.

Four processes: the server, as `quintant up` runs it, which also watches its own loop; two that do
nothing but read a large list, one of them compressed; and one that writes and waits for the event.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import Popen

import msgspec

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer, running
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest, ApiResponse

LIST_MEGABYTES = 13
"""The list that is read: some six thousand pods."""
OBJECT_BYTES = 2_000
BUDGET_MS = 50.0
"""Of watch latency (99th percentile) and of any stall: a person does not notice."""
WRITES = 500
WRITE_SECONDS = 0.02
"""Between two writes: fifty a second, as a busy controller does."""
PROBE_SECONDS = 0.001
READY_SECONDS = 20.0
CMS = "/api/v1/namespaces/default/configmaps"
METHOD = (
    "The embedded server over TLS, roles enforced, {count:,} ConfigMaps; two processes read the "
    f"whole list ({LIST_MEGABYTES} MB) in a loop, one of them as gzip, while another process sends "
    "{writes} merge patches, fifty a second, and waits for each in a watch of its own. Latency is "
    "from sending a patch to receiving its event: as seen, and less the time that server and "
    "client waited for a processor (schedstat of Linux), which these busy processes, and whatever "
    "else runs here, take from each other; the budget is about the latter. A stall is how "
    "late a timer of the server's loop fired, as far as the server was computing meanwhile (CPU "
    "time of its thread)."
)


class Latencies(msgspec.Struct):
    """Milliseconds from a write to its event."""

    median: float
    p99: float
    worst: float
    free: float
    """The 99th percentile, less what was waited for a processor."""


class Stalls(msgspec.Struct):
    """Milliseconds that the server's loop was late at most, and of those, by its own work."""

    late: float = 0.0
    busy: float = 0.0
    cpu: float = 0.0
    """CPU seconds of the server."""


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure once without readers, once with them."""
    say("reads")
    found = {
        "nobody reads": _measured(sizes, ()),
        "two read all the time": _measured(sizes, ("identity", "gzip")),
    }
    heavy, stalls = found["two read all the time"]
    yield Table(
        "Watch latency while large lists are read",
        METHOD.format(count=_count(sizes), writes=_writes(sizes)),
        ("", "median", "p99 as seen", "p99", "worst", "loop late at most", "by its own work"),
        [(name, *_cells(*figures)) for name, figures in found.items()],
        (
            Budget(
                f"watch latency p99 under {BUDGET_MS:.0f} ms",
                f"{heavy.free:.0f} ms ({heavy.p99:.0f} ms as seen)",
                heavy.free < BUDGET_MS,
            ),
            Budget(
                f"no stall of the server's loop beyond {BUDGET_MS:.0f} ms",
                f"{stalls.busy:.0f} ms",
                stalls.busy < BUDGET_MS,
            ),
        ),
    )


def _cells(latencies: Latencies, stalls: Stalls) -> tuple[str, ...]:
    seen = (latencies.median, latencies.p99, latencies.free, latencies.worst)
    return tuple(f"{value:.1f} ms" for value in (*seen, stalls.late, stalls.busy))


def _count(sizes: Sizes) -> int:
    return LIST_MEGABYTES * 1_000_000 // OBJECT_BYTES


def _writes(sizes: Sizes) -> int:
    return max(WRITES * sizes.requests // Sizes().requests, 100)


def _measured(sizes: Sizes, encodings: tuple[str, ...]) -> tuple[Latencies, Stalls]:
    with tempfile.TemporaryDirectory(prefix="quintant-bench-") as folder, ExitStack() as stack:
        way, told = Path(folder) / "kubeconfig", Path(folder) / "stalls"
        count, env = str(_count(sizes)), {"KUBECONFIG": str(way)}
        server = stack.enter_context(running("reads", "serve", str(way), str(told), count))
        _wait(way)
        for encoding in encodings:
            reader = stack.enter_context(running("reads", "read", encoding, env=env))
            _first(reader)
        server.send_signal(signal.SIGUSR1)
        arguments = (str(_writes(sizes)), str(server.pid))
        latencies = answer("reads", "follow", *arguments, to=Latencies, env=env)
        server.send_signal(signal.SIGUSR2)
        _wait(told)
        return latencies, msgspec.json.decode(told.read_bytes(), type=Stalls)


def _wait(path: Path) -> None:
    """Wait until a program has written something."""
    began = time.monotonic()
    while not path.exists():
        if time.monotonic() - began > READY_SECONDS:
            raise TimeoutError(f"nothing came within {READY_SECONDS:g} s")
        time.sleep(0.005)


def _first(reader: Popen[bytes]) -> None:
    """Wait until a reader has read the list once."""
    assert reader.stdout is not None
    reader.stdout.readline()


async def _serve(way: Path, told: Path, count: int) -> None:
    from quintant.cluster.apiserver.meta.user import User
    from quintant.cluster.apiserver.server.https import LOOPBACK
    from quintant.cluster.instance.cluster import ClusterConfig
    from quintant.cluster.instance.cluster import run_cluster as cluster
    from quintant.core.address import BindAddress
    from quintant.core.gc import freeze_heap

    async with cluster(ClusterConfig(BindAddress(LOOPBACK, 0))) as found:
        body = "x" * (OBJECT_BYTES - 300)
        for number in range(count):
            obj = {"metadata": {"name": f"o-{number}"}, "data": {"text": body}}
            call = ApiRequest("POST", CMS, body=msgspec.json.encode(obj))
            made = await found.server.handle(call, User("bench", ("system:masters",)))
            assert isinstance(made, ApiResponse)
            assert made.status == 201, made.body
        freeze_heap()
        probe = _Probe(told)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, probe.begin)
        loop.add_signal_handler(signal.SIGUSR2, probe.end)
        _write(way, found.kubeconfig.reveal())
        await probe.watch()


class _Probe:
    """A timer of the server's loop, and how late it comes."""

    def __init__(self, told: Path) -> None:
        self._told = told
        self._worst = Stalls()

    def begin(self) -> None:
        self._worst = Stalls(cpu=-time.process_time())

    def end(self) -> None:
        self._worst.cpu += time.process_time()
        _write(self._told, msgspec.json.encode(self._worst))

    async def watch(self) -> None:
        while True:
            began, before = time.monotonic(), time.thread_time()
            await asyncio.sleep(PROBE_SECONDS)
            late = time.monotonic() - began - PROBE_SECONDS
            busy = min(late, time.thread_time() - before)
            self._worst.late = max(self._worst.late, late * 1000)
            self._worst.busy = max(self._worst.busy, busy * 1000)


def _write(path: Path, content: bytes) -> None:
    """All of it, or nothing yet."""
    fresh = path.with_suffix(".fresh")
    fresh.write_bytes(content)
    fresh.rename(path)


async def _read(encoding: str) -> None:
    transport = HttpTransport(Config.discover())
    call = ApiRequest("GET", CMS, headers={"accept-encoding": encoding})
    while True:
        async with transport.stream(call) as stream:
            size = sum([len(chunk) async for chunk in stream.chunks])
        print(size, flush=True)


async def _follow(writes: int, server: int) -> Latencies:
    transport = HttpTransport(Config.discover())
    headers = {"content-type": "application/merge-patch+json"}
    query = {"watch": "true", "fieldSelector": "metadata.name=o-0"}
    took: list[float] = []
    free: list[float] = []
    async with transport.stream(ApiRequest("GET", CMS, query)) as stream:
        await anext(stream.chunks)
        for number in range(writes):
            began, waited = time.monotonic(), _waited(server) + _waited()
            body = msgspec.json.encode({"data": {"number": str(number)}})
            patch = asyncio.ensure_future(
                transport.request(ApiRequest("PATCH", f"{CMS}/o-0", {}, headers, body))
            )
            await anext(stream.chunks)
            took.append((time.monotonic() - began) * 1000)
            free.append(took[-1] - (_waited(server) + _waited() - waited) * 1000)
            await patch
            await asyncio.sleep(WRITE_SECONDS)
    await transport.close()
    return Latencies(_share(took, 0.5), _share(took, 0.99), max(took), _share(free, 0.99))


def _share(values: list[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)]


def _waited(pid: int | str = "self") -> float:
    """Seconds that a process's main thread was ready and had no processor, where that is told."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


async def _main(word: str, *arguments: str) -> None:
    match word:
        case "serve":
            way, told, count = arguments
            await _serve(Path(way), Path(told), int(count))
        case "read":
            await _read(*arguments)
        case "follow":
            writes, server = map(int, arguments)
            print(msgspec.json.encode(await _follow(writes, server)).decode())


if __name__ == "__main__":
    import uvloop

    with suppress(KeyboardInterrupt):
        uvloop.run(_main(*sys.argv[1:]))
