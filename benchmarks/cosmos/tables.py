"""Every budget of the Cosmos operator, with its verdict."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from math import ceil
from statistics import median

from benchmarks.cosmos import holding, passes, polling, sidecar, trials, world
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer, running

POLL_ROUNDS = 2
WAVES = trials.WIDE // trials.WAVE
BESIDE = 20
"""CosmosFullNodes of the run beside the original, which is throttled by its own client."""
ORIGINAL = "COSMOS_OPERATOR"

Say = Callable[[str], None]
POLLING = (
    "{pods:,} nodes are asked for /status every five seconds over loopback, on connections that "
    "are kept, by a process each, all on uvloop: the operator's cache, a bare protocol and a timer "
    "for each node, and a session of aiohttp. CPU of the process over {rounds} rounds, after "
    "connections were made. The answers come from one other process."
)
PASSES = (
    "a CosmosFullNode of three nodes at rest, the whole cluster in one process. Its key is put "
    "into the queue {passes} times; CPU of the process beyond as long a time without. Without "
    "memory means that so many other revisions were asked for before that none of its own is "
    "remembered."
)
HOLDING = (
    "{count:,} CosmosFullNodes of three pods, with Services, ConfigMaps, accounts and claims, "
    "as an API server stores them. The operator starts as in a cluster, over HTTPS, and is "
    "measured until it asks all {pods:,} nodes and rests; the peak is the kernel's. Beside it, "
    "a process that lists the same objects with json.loads and keeps them."
)
TRIALS = (
    "an embedded cluster whose simulated pods take {start:g} s to start, {sync:g} s to be in "
    "sync and {stop:g} s to stop, with a node of their own that answers over HTTP; the operator "
    "is a process of its own. {count} CosmosFullNodes of three are created at once, then left "
    "alone for a minute; pods are deleted without grace, nodes die and come back; one of {wide} "
    "nodes is rolled at 25 %, while a volume is copied with its pod away. One pod is measured "
    "by its node's word."
)
SIDECAR = (
    "the process `quintant agent cosmosnode healthcheck` beside a node that answers; {probes} "
    "probes and one question for its disk. The share of a core is for a probe every {period:g} "
    "s."
)


def run(sizes: Sizes, say: Say) -> Iterator[Table]:
    """Measure everything, part by part."""
    yield _polling(sizes.resources * 3 // 2, say)
    yield _passes(sizes.trials * 2, say)
    yield _holding(sizes.resources // 2, say)
    yield _sidecar(sizes.trials * 5, say)
    yield from _trials(sizes, say)


def _polling(pods: int, say: Say) -> Table:
    found = {}
    with running("cosmos.chain") as server:
        assert server.stdout is not None
        port = server.stdout.readline().decode().strip()
        for name in ("bare", "ours", "aiohttp"):
            say(f"cosmos: {pods:,} nodes asked by {name}")
            given = (name, port, str(pods), str(POLL_ROUNDS))
            found[name] = answer("cosmos.polling", *given, to=polling.Figures)
    ours, bare, library = found["ours"], found["bare"], found["aiohttp"]
    ratio = ours.microseconds / bare.microseconds
    beside = ours.microseconds / library.microseconds
    return Table(
        f"Asking {pods:,} nodes every five seconds",
        POLLING.format(pods=pods, rounds=POLL_ROUNDS),
        ("", "CPU of a poll", "of a core", "RSS"),
        [
            (name, f"{each.microseconds:.0f} µs", f"{each.core:.1%}", f"{each.megabytes:.0f} MB")
            for name, each in found.items()
        ],
        [
            Budget("at most 3 times a bare loop", f"{ratio:.1f}x", ratio <= 3),
            Budget("below aiohttp", f"{beside:.2f} of it", beside < 1),
            Budget("at most 0.1 of a core", f"{ours.core:.2f}", ours.core <= 0.1),
        ],
    )


def _passes(count: int, say: Say) -> Table:
    say("cosmos: a pass that changes nothing")
    found = answer("cosmos.passes", str(count), to=passes.Figures)
    ratio = found.remembered / found.forgotten
    quiet = found.writes == found.asked == 0
    return Table(
        "A pass that changes nothing, three replicas",
        PASSES.format(passes=count),
        ("", "CPU", "writes", "requests to nodes"),
        [
            ("as it is", f"{found.remembered:.2f} ms", str(found.writes), str(found.asked)),
            ("without the memory of revisions", f"{found.forgotten:.2f} ms", "", ""),
        ],
        [
            Budget("at most 4 ms", f"{found.remembered:.2f} ms", found.remembered <= 4),
            Budget("a third of one without memory", f"{ratio:.2f} of it", ratio <= 1 / 3),
            Budget("no write, no request to a node", str(quiet), quiet),
        ],
    )


def _holding(count: int, say: Say) -> Table:
    say(f"cosmos: {count:,} CosmosFullNodes at rest")
    found = answer("cosmos.holding", str(count), to=holding.Figures)
    ratio = found.peak / found.dicts
    return Table(
        f"{count:,} CosmosFullNodes of three pods at rest",
        HOLDING.format(count=count, pods=3 * count),
        ("", "RSS peak", "CPU of the start", "at rest", "writes beside statuses"),
        [
            ("operator", f"{found.peak:.0f} MB", f"{found.start:.1f} s", f"{found.core:.1%}",
             str(found.writes)),
            ("dicts", f"{found.dicts:.0f} MB", "", "", ""),
        ],
        [
            Budget("at most 160 MB", f"{found.peak:.0f} MB", found.peak <= 160),
            Budget("a third of dicts", f"{ratio:.2f} of them", ratio <= 1 / 3),
            Budget("a start writes nothing", str(found.writes), found.writes == 0),
        ],
    )  # fmt: skip


def _sidecar(probes: int, say: Say) -> Table:
    say("cosmos: the health check")
    found = answer("cosmos.sidecar", str(probes), to=sidecar.Figures)
    return Table(
        "The health check beside a node",
        SIDECAR.format(probes=probes, period=sidecar.PROBE_SECONDS),
        ("", "RSS", "of a core"),
        [("healthcheck", f"{found.rss:.1f} MB", f"{found.core:.3%}")],
        [
            Budget("at most 26 MB", f"{found.rss:.1f} MB", found.rss <= 26),
            Budget("under 0.2 % of a core", f"{found.core:.3%}", found.core < 0.002),
        ],
    )


def _trials(sizes: Sizes, say: Say) -> Iterator[Table]:
    count = sizes.resources // 10
    say(f"cosmos: {count} CosmosFullNodes of three")
    ours = answer("cosmos.trials", str(count), str(sizes.trials), to=trials.Figures)
    yield _table(f"{count} CosmosFullNodes", count, {"ours": ours}, _budgets(ours))
    if ORIGINAL in os.environ:
        say("cosmos: beside the original")
        given = (str(BESIDE), "5")
        found = {
            "ours": answer("cosmos.trials", *given, to=trials.Figures),
            "the original": answer("cosmos.trials", *given, "original", to=trials.Figures),
        }
        yield _table("Beside the original operator", BESIDE, found, [])


def _table(
    title: str, count: int, found: dict[str, trials.Figures], budgets: list[Budget]
) -> Table:
    return Table(
        title,
        TRIALS.format(
            count=count, wide=trials.WIDE, start=world.START_SECONDS, sync=trials.SYNC_SECONDS,
            stop=world.STOP_SECONDS,
        ),
        ("", "Complete", "CPU", "at rest", "RSS peak", "successor", "dead", "back", "rollout",
         "one pod", "away"),
        [_row(name, each) for name, each in found.items()],
        budgets,
    )  # fmt: skip


def _row(name: str, found: trials.Figures) -> tuple[str, ...]:
    return (
        name, f"{found.complete:.1f} s", f"{found.core:.0%}", f"{found.rest:.1%}",
        f"{found.peak:.0f} MB", f"{median(found.successors):.3f} s", f"{max(found.dead):.1f} s",
        f"{max(found.back):.1f} s", f"{found.rollout:.1f} s", f"{found.one_pod:.1f} s",
        f"{max(found.away):.1f} s",
    )  # fmt: skip


def _budgets(found: trials.Figures) -> list[Budget]:
    successor = sorted(found.successors)[ceil(len(found.successors) * 0.99) - 1]
    slowest = max(*found.dead, *found.back)
    waves = found.rollout / (WAVES * found.one_pod)
    return [
        Budget("all Complete in 60 s", f"{found.complete:.1f} s", found.complete < 60),
        Budget("at rest one status a minute", f"{found.statuses:.2f}", found.statuses <= 1.0),
        Budget("and no other write", str(found.others), found.others == 0),
        Budget("successor p99 under 0.5 s", f"{successor:.3f} s", successor < 0.5),
        Budget("dead or back told in 10.5 s", f"{slowest:.1f} s", slowest <= 10.5),
        Budget(f"rollout at most 1.25 times {WAVES} waves", f"{waves:.2f}x", waves <= 1.25),
        Budget("pod away at most 4 s", f"{max(found.away):.1f} s", max(found.away) <= 4),
    ]
