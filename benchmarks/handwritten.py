"""What is written by hand here, beside the libraries that could do it: loading it, and its work.

The libraries are nobody's dependency. Those that are not installed are left out, and the run says
so: `.venv/bin/pip install h11 httptools dnspython websockets croniter` for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from time import process_time
from timeit import repeat

from benchmarks import handwritten_peers as peers
from benchmarks import refusals
from benchmarks.handwritten_work import OURS
from benchmarks.imports import REPEATS, import_cost
from benchmarks.report import Table
from benchmarks.sizes import Sizes

Work = Callable[[], object]

TASKS: dict[str, dict[str, Work]] = {
    "the head of a request": {"h11": peers.h11_request, "httptools": peers.httptools_request},
    "a response of 2 KB": {"h11": peers.h11_response, "httptools": peers.httptools_response},
    "100 events of a watch": {"h11": peers.h11_watch, "httptools": peers.httptools_watch},
    "a DNS query and its answer": {"dnspython": peers.dns_answer},
    "64 masked messages of 1 KB": {"websockets": peers.websockets_small},
    "a masked message of 64 KB": {"websockets": peers.websockets_large},
    "a schedule and its next time": {"croniter": peers.croniter_next},
}
MODULES = {"dnspython": "dns"}
"""What a library is imported as, where that is not its name."""

IMPORTS = {
    "python": "import asyncio, re, ssl, struct",
    "HTTP/1, ours": "import quintant.http.server, quintant.http.response_parser",
    "h11": "import h11",
    "httptools": "import httptools",
    "DNS, ours": "import quintant.agents.dns.message",
    "dnspython": "import dns.message, dns.rrset",
    "WebSocket, ours": "import quintant.agents.multiplex.websocket",
    "websockets": "import websockets.server, websockets.client",
    "gRPC health, ours": "import quintant.cluster.kubelet.probe.grpc_health",
    "grpcio": "import grpc.aio",
    "grpcio-health-checking": "from grpc_health.v1 import health_pb2_grpc",
    "cron, ours": "import quintant.core.cron",
    "croniter": "import croniter",
}
_FOREIGN = {"grpcio": "grpc", "grpcio-health-checking": "grpc_health", **MODULES}
JUDGES = {"ours": refusals.ours, "h11": refusals.h11, "httptools": refusals.httptools}
ROUNDS = 20

IMPORT_METHOD = (
    "a fresh interpreter for each, with asyncio, re, ssl and struct, which every process of ours "
    "has; the median of {repeats} runs, the first line subtracted from the others."
)
WORK_METHOD = (
    "the same bytes for each, in one process; CPU time, the best of {rounds} rounds. A parser is "
    "made anew for each message, as ours are. httptools and the masking of websockets are "
    "written in C."
)
REFUSAL_METHOD = "each is given whole to a new parser for requests; nothing but its answer counts."


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure what loading costs, then what working costs."""
    for name in sorted({name for those in TASKS.values() for name in those}):
        if not installed(name):
            say(f"handwritten: {name} is not installed, and left out: pip install {name}")
    yield Table(
        "Loading what is written by hand, and what could be used instead",
        IMPORT_METHOD.format(repeats=REPEATS),
        ("", "CPU", "memory"),
        list(_loading(say)),
    )
    yield Table(
        "The same work, by hand and by libraries",
        WORK_METHOD.format(rounds=ROUNDS),
        ("", "ours", "a library", ""),
        list(_working(sizes, say)),
    )
    judges = {name: judge for name, judge in JUDGES.items() if installed(name)}
    yield Table(
        "Requests that could be read in two ways",
        REFUSAL_METHOD,
        ("", *judges),
        [(name, *_verdicts(raw, judges.values())) for name, raw in refusals.REQUESTS.items()],
    )


def installed(name: str) -> bool:
    """Whether something can be measured: ours always, a library where it is."""
    return "ours" in name or find_spec(_FOREIGN.get(name, name)) is not None


def _loading(say: Callable[[str], None]) -> Iterator[tuple[str, str, str]]:
    first, *others = IMPORTS
    seconds, megabytes = import_cost(IMPORTS[first])
    yield f"{first}, asyncio, ssl", f"{seconds * 1000:.0f} ms", f"{megabytes:.1f} MB"
    for name in filter(installed, others):
        say(f"handwritten: import {name}")
        more, larger = import_cost(f"{IMPORTS[first]}\n{IMPORTS[name]}")
        yield name, f"+{(more - seconds) * 1000:.0f} ms", f"+{larger - megabytes:.1f} MB"


def _working(sizes: Sizes, say: Callable[[str], None]) -> Iterator[tuple[str, str, str, str]]:
    for task, libraries in TASKS.items():
        say(f"handwritten: {task}")
        ours = _microseconds(OURS[task], sizes.trials)
        there = [name for name in libraries if installed(name)]
        for name in there:
            theirs = _microseconds(libraries[name], sizes.trials)
            yield task, f"{ours:.1f} µs", f"{theirs:.1f} µs", name
        if not there:
            yield task, f"{ours:.1f} µs", "-", "none is installed"


def _verdicts(raw: bytes, judges: Iterable[Callable[[bytes], bool]]) -> Iterator[str]:
    return ("refused" if judge(raw) else "taken" for judge in judges)


def _microseconds(work: Work, times: int) -> float:
    work()
    return min(repeat(work, timer=process_time, number=times, repeat=ROUNDS)) / times * 1e6


assert set(TASKS) == set(OURS), "every task is done by hand, too"
