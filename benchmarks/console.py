"""The console: what its page loads, how soon it is complete and up to date, and what it costs.

Beside it kubectl and k9s on the same cluster in the same run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.console_k9s import k9s_memory
from benchmarks.console_kubectl import WatchedChanges, list_seconds, watched_changes
from benchmarks.console_page import Followed, Opened, console_pages, worst
from benchmarks.console_site import console_site
from benchmarks.report import Budget, Table, times
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import running
from processes.running import running_command
from processes.usage import MEGABYTE, usage

SMALL_DEVICES, SMALL_NODES = 20, 5
"""What a demo has."""
RATE, VIEWERS = 100, 20
FOLLOW_SECONDS, MEASURE_SECONDS, REST_SECONDS = 15.0, 10.0, 5.0
MOST_BYTES, MOST_REQUESTS = 500_000, 25
PAINT, SMALL_COMPLETE, LARGE_COMPLETE = 1.0, 1.5, 3.0
SEEN, LATER, TASK = 1.0, 0.5, 0.1
HEAP_MB, IDLE_MB, LARGE_MB, CORE = 150.0, 60.0, 120.0, 0.25
OPENING = (
    "`quintant console` as a process before an embedded server, {small} devices on {few} nodes as "
    "in a demo, and {large:,} on {nodes}, each with its pod. A new page of a Chromium without a "
    "screen; complete is when the view shows how many there are of all. Beside it "
    "`kubectl get edgedevices -A` of the same."
)
FOLLOWING = (
    "{large:,} devices, {rate} writes a second, each of which puts the time of day into a device; "
    "a tenth of them are of the ten devices at the top of the list. A change is seen when it is "
    "in the page's DOM, or when kubectl has printed its line; both look at the same time, for "
    "{seconds:g} s. Tasks are those of the page's own thread, heap is that of page and worker."
)
COSTING = (
    "Resident memory of the console's server after some seconds of rest, and its CPU in "
    "{seconds:g} s with so many streams of overview and edgeMap at {rate} changes a second. k9s "
    "shows the same list in a pseudo terminal, at the same rate."
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a server takes."""

    rss: float
    one: float = 0.0
    many: float = 0.0
    """Shares of a core, with one viewer and with many."""


@dataclass(frozen=True, slots=True)
class SmallSite:
    """What was seen of a cluster as a demo has it."""

    overview: Opened
    edgemap: Opened
    kubectl: float
    cost: Cost


@dataclass(frozen=True, slots=True)
class LargeSite:
    """What was seen of a large cluster."""

    edgemap: Opened
    panel: Opened
    kubectl: float
    table: Followed
    boxes: Followed
    watched: WatchedChanges
    cost: Cost
    k9s: float | None
    """Resident megabytes of k9s with the same list at the same rate."""


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure all."""
    with console_pages() as pages:
        say(f"console: {SMALL_DEVICES} devices")
        small = _small(pages)
        say(f"console: {sizes.objects:,} devices on {sizes.nodes} nodes are made")
        large = _large(sizes, pages, say)
    yield _opening(sizes, small, large)
    yield _following(sizes, large)
    yield _costing(sizes, small, large)


def _small(pages: Any) -> SmallSite:
    with _folder() as folder, console_site(SMALL_DEVICES, SMALL_NODES, folder) as site:
        with _console(site.kubeconfig) as (pid, address):
            time.sleep(REST_SECONDS)
            cost = Cost(usage(pid).rss / MEGABYTE)
            overview = pages(f"http://{address}").open("/", "shifu")
            edgemap = pages(f"http://{address}").open("/edgemap", f"{SMALL_DEVICES} devices")
        return SmallSite(overview, edgemap, list_seconds(site.kubeconfig), cost)


def _large(sizes: Sizes, pages: Any, say: Callable[[str], None]) -> LargeSite:
    objects = f"{sizes.objects + sizes.nodes:,} objects"
    with _folder() as folder, console_site(sizes.objects, sizes.nodes, folder) as site:
        listed = list_seconds(site.kubeconfig)
        with _console(site.kubeconfig) as (pid, address):
            time.sleep(REST_SECONDS)
            say("console: pages")
            map_page, list_page = (pages(f"http://{address}") for _ in range(2))
            edgemap = map_page.open("/edgemap", f"{sizes.objects:,} devices")
            site.change(RATE)
            boxes = map_page.follow(FOLLOW_SECONDS)
            map_page.close()
            panel = list_page.open("/systems/shifu", objects)
            with watched_changes(site.kubeconfig) as watched:
                table = list_page.follow(FOLLOW_SECONDS)
            list_page.close()
            say(f"console: {VIEWERS} viewers")
            one, many = (_share(pid, address, viewers) for viewers in (1, VIEWERS))
            say("console: k9s")
            k9s = k9s_memory(
                site.kubeconfig, sizes.objects, folder, lambda: time.sleep(FOLLOW_SECONDS)
            )
            site.change(0)
            time.sleep(REST_SECONDS)
            cost = Cost(usage(pid).rss / MEGABYTE, one, many)
    return LargeSite(edgemap, panel, listed, table, boxes, watched, cost, k9s)


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="quintant-bench-") as folder:
        yield Path(folder)


@contextmanager
def _console(kubeconfig: Path) -> Iterator[tuple[int, str]]:
    """A console: its process and its address."""
    command = [sys.executable, "-m", "quintant", "console", "--listen", "127.0.0.1:0"]
    with running_command([*command, "--kubeconfig", str(kubeconfig)]) as child:
        assert child.stdout is not None
        words = child.stdout.readline().decode().split()
        assert words, "the console ended before it served"
        yield child.pid, words[-1].removeprefix("http://").rstrip("/")


def _share(pid: int, address: str, viewers: int) -> float:
    """The share of a core that a console takes with so many viewers."""
    with running("console_viewers", address, str(viewers), "overview", "edgemap") as child:
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(REST_SECONDS)
        before, began = usage(pid).cpu, time.monotonic()
        time.sleep(MEASURE_SECONDS)
        return (usage(pid).cpu - before) / (time.monotonic() - began)


def _opening(sizes: Sizes, small: SmallSite, large: LargeSite) -> Table:
    opened = {
        f"overview, {SMALL_DEVICES} devices": small.overview,
        f"edgeMap, {SMALL_DEVICES} devices": small.edgemap,
        f"edgeMap, {sizes.objects:,} devices": large.edgemap,
        f"list, {sizes.objects:,} devices": large.panel,
    }
    rows = [
        (name, f"{each.paint:.2f} s", f"{each.complete:.2f} s", f"{each.size / 1000:.0f} KB",
         str(each.requests))
        for name, each in opened.items()
    ]  # fmt: skip
    for devices, seconds in ((SMALL_DEVICES, small.kubectl), (sizes.objects, large.kubectl)):
        rows.append((f"kubectl get, {devices:,} devices", "-", f"{seconds:.2f} s", "-", "-"))
    paint = max(each.paint for each in opened.values())
    size, requests = small.overview.size, small.overview.requests
    demo = max(small.overview.complete, small.edgemap.complete)
    whole = max(large.edgemap.complete, large.panel.complete)
    method = OPENING.format(
        small=SMALL_DEVICES, few=SMALL_NODES, large=sizes.objects, nodes=sizes.nodes
    )
    return Table(
        "The console's page is opened",
        method,
        ("", "first paint", "complete", "loaded", "requests"),
        rows,
        (
            Budget("under 500 KB", f"{size / 1000:.0f} KB", size < MOST_BYTES),
            Budget(f"under {MOST_REQUESTS} requests", str(requests), requests < MOST_REQUESTS),
            Budget(f"first paint under {PAINT:g} s", f"{paint:.2f} s", paint < PAINT),
            Budget(
                f"complete under {SMALL_COMPLETE:g} s, as in a demo",
                f"{demo:.2f} s ({times(demo, small.kubectl)} of kubectl)",
                demo < SMALL_COMPLETE,
            ),
            Budget(
                f"complete under {LARGE_COMPLETE:g} s with {sizes.objects:,} devices",
                f"{whole:.2f} s ({times(whole, large.kubectl)} of kubectl)",
                whole < LARGE_COMPLETE,
            ),
        ),
    )


def _following(sizes: Sizes, large: LargeSite) -> Table:
    seen, printed = worst(large.table.delays), worst(large.watched.delays)
    longest = max(large.table.longest_task, large.boxes.longest_task)
    heap = max(large.table.heap, large.boxes.heap) / MEGABYTE
    many = {"the list": large.table, "the edgeMap": large.boxes}
    rows = [
        (name, f"{worst(each.delays):.2f} s" if each.delays else "-", str(len(each.delays)),
         f"{1000 * each.longest_task:.0f} ms", f"{each.heap / MEGABYTE:.0f} MB")
        for name, each in many.items()
    ]  # fmt: skip
    rows.append(("kubectl get -w", f"{printed:.2f} s", str(len(large.watched.delays)), "-", "-"))
    return Table(
        f"The console's page at {RATE} changes a second",
        FOLLOWING.format(large=sizes.objects, rate=RATE, seconds=FOLLOW_SECONDS),
        ("", "seen after (p95)", "changes seen", "longest task", "heap"),
        rows,
        (
            Budget(f"seen within {SEEN:g} s", f"{seen:.2f} s", 0 < seen < SEEN),
            Budget(
                f"at most {LATER:g} s after kubectl",
                f"{seen - printed:+.2f} s",
                0 < seen < printed + LATER,
            ),
            Budget(
                f"no task over {1000 * TASK:.0f} ms", f"{1000 * longest:.0f} ms", longest < TASK
            ),
            Budget(f"heap under {HEAP_MB:g} MB", f"{heap:.0f} MB", heap < HEAP_MB),
        ),
    )


def _costing(sizes: Sizes, small: SmallSite, large: LargeSite) -> Table:
    idle, busy, k9s = small.cost, large.cost, large.k9s
    return Table(
        "The console's server",
        COSTING.format(seconds=MEASURE_SECONDS, rate=RATE),
        ("", "RSS", "1 viewer", f"{VIEWERS} viewers"),
        [
            (f"{SMALL_DEVICES} devices, idle", f"{idle.rss:.0f} MB", "-", "-"),
            (f"{sizes.objects:,} devices", f"{busy.rss:.0f} MB", f"{busy.one:.1%}",
             f"{busy.many:.1%}"),
            (f"k9s, {sizes.objects:,} devices", "-" if k9s is None else f"{k9s:.0f} MB", "-", "-"),
        ],
        (
            Budget(f"under {IDLE_MB:g} MB when idle", f"{idle.rss:.1f} MB", idle.rss < IDLE_MB),
            Budget(
                f"under {LARGE_MB:g} MB with {sizes.objects:,} devices",
                f"{busy.rss:.0f} MB" + (f" ({times(busy.rss, k9s)} of k9s)" if k9s else ""),
                busy.rss < LARGE_MB,
            ),
            Budget(
                f"under {CORE:.0%} of a core with {VIEWERS} viewers",
                f"{busy.many:.1%} ({times(busy.many, busy.one)} of one viewer)",
                busy.many < CORE,
            ),
        ),
    )  # fmt: skip
