"""infra with many Clusters: deletions beside creations, a life, memory, rest, restarts, growth.

Beside it kopf doing the same, and the algorithm of the original under virtual time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from time import monotonic

from benchmarks.infra_bed import KOPF, QUINTANT, InfraBed, Program, at_work, infra_bed
from benchmarks.operators.infra_waiting import measure as waiting
from benchmarks.report import Budget, Table, times
from benchmarks.sizes import Sizes
from processes.usage import MEGABYTE, usage
from quintant.runtime.observe import logs

LONG_SECONDS = 600.0
"""What a creation takes that is in flight: as long as that of a real cluster."""
PACE = 8.0
"""Deletions begun in a second."""
INTERVAL = 10.0
"""Between looks at an infrastructure, while it is measured how soon a change is written."""
REST_SECONDS, GROWTH_SECONDS = 60.0, 30.0
LARGER = 4

RATIO = 1.5
CHANGE_SECONDS = 0.25
CPU_SHARE, RSS_SHARE = 4.0, 2.0
RSS_MB, IDLE_MB = 90.0, 45.0
ASKED = 1.2
RESTART_SECONDS = 5.0
GROWTH = 4.4

METHOD = (
    "an embedded API server over HTTPS, a modelled provider over HTTP (a creation takes 4 s, a "
    "deletion 1 s) and the operator are processes of their own; made clusters are one server with "
    "TLS. Waits and looks are infra's defaults, for kopf too: 2 s to 30 s while something is made, "
    "every 60 s at rest, the made cluster every 30 s. kopf is used as its documentation teaches: "
    "plain handlers in 20 threads, with the official client and requests. Deletions "
    "are begun {pace:g} a second, {trials} of them alone and {trials} while {clusters} creations "
    "that take {long:g} s are in "
    "flight; until the watch shows that the Cluster is gone. CPU of a life is that of {lives} from "
    "PENDING to ONLINE, and of the {trials} deletions. Memory: Clusters with templates of 4 KB, "
    "ONLINE already when the operator starts; the peak is the kernel's. A change is a machine that "
    "fails at the provider, with a look each {interval:g} s. The original is its algorithm with "
    "its own constants (five workers that wait, 30 s between looks), with the same model and the "
    "same API server, under virtual time: its deletions alone are one after another. kopf's own "
    "queues cannot be asked whether they are empty."
)


@dataclass(frozen=True, slots=True)
class Lives:
    """What was seen of Clusters that come and go."""

    idle: float
    """Megabytes before there was any."""
    made: float
    """Milliseconds of CPU until one is ONLINE."""
    ended: float
    """The same until one is gone."""
    alone: list[float]
    beside: list[float]

    @property
    def life(self) -> float:
        """Milliseconds of CPU of a whole life."""
        return self.made + self.ended


@dataclass(frozen=True, slots=True)
class Rest:
    """What was seen of Clusters that are as they should be."""

    peak: float
    empty: float
    """Seconds from the start until every queue was empty."""
    creates: int
    writes: bool
    cpu: float
    """Seconds of the start, and of a while at rest."""
    asked: float
    """Requests to the provider, per Cluster and minute."""


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure everybody."""
    logs.configure(level="warning")
    count, trials = sizes.clusters, min(sizes.trials, sizes.clusters)
    lives, changes, peaks = {}, {}, {}
    for program in (QUINTANT, KOPF):
        say(f"clusters: {program.name}, {2 * trials} lives, {count} in flight")
        lives[program.name] = asyncio.run(_lives(program, count, trials))
    say(f"clusters: Quintant, {count} at rest")
    rest = asyncio.run(_rest(QUINTANT, count, REST_SECONDS))
    say(f"clusters: Quintant, {LARGER * count} at rest")
    larger = asyncio.run(_rest(QUINTANT, LARGER * count, GROWTH_SECONDS))
    for program in (QUINTANT, KOPF):
        say(f"clusters: {program.name}, {trials} changes of {count}")
        found = asyncio.run(_changes(program, count, trials))
        changes[program.name], peaks[program.name] = found
    say("clusters: the original, under virtual time")
    original = waiting(count, trials, LONG_SECONDS)
    method = METHOD.format(
        pace=PACE, trials=trials, clusters=count, long=LONG_SECONDS, lives=2 * trials,
        interval=INTERVAL,
    )  # fmt: skip
    ours, kopf = lives["Quintant"], lives["kopf"]
    yield Table(
        f"{count} Clusters",
        method,
        ("", "Quintant", "kopf", "the original"),
        [
            ("a deletion alone, p99", *map(_p99, (ours.alone, kopf.alone, original.alone))),
            (
                f"beside {count} creations, p99",
                *map(_p99, (ours.beside, kopf.beside, original.beside)),
            ),
            ("CPU of a life", f"{ours.life:.1f} ms", f"{kopf.life:.1f} ms", "-"),
            ("until it is ONLINE", f"{ours.made:.1f} ms", f"{kopf.made:.1f} ms", "-"),
            ("RSS with no Cluster", f"{ours.idle:.0f} MB", f"{kopf.idle:.0f} MB", "-"),
            (f"RSS with {count}, peak", f"{rest.peak:.0f} MB", f"{peaks['kopf']:.0f} MB", "-"),
            ("a change until it is written, p99", *map(_p99, changes.values()), "-"),
            ("requests at rest, a Cluster and minute", f"{rest.asked:.2f}", "-", "-"),
            ("queues empty after a restart", f"{rest.empty:.1f} s", "-", "-"),
        ],
        _budgets(ours, kopf, rest, peaks["kopf"], changes["Quintant"])
        + _growth(rest, larger, count),
    )


def _budgets(
    ours: Lives, kopf: Lives, rest: Rest, kopf_peak: float, changes: list[float]
) -> list[Budget]:
    slower = _at(ours.beside) / _at(ours.alone)
    change, limit = _at(changes), INTERVAL + CHANGE_SECONDS
    return [
        Budget(f"a deletion at most {RATIO:g} times as long", f"{slower:.2f}x", slower <= RATIO),
        Budget(f"a change within {limit:g} s", f"{change:.2f} s", change <= limit),
        Budget(
            f"CPU of a life at most 1/{CPU_SHARE:g} of kopf's",
            f"1/{kopf.life / ours.life:.1f}",
            ours.life * CPU_SHARE <= kopf.life,
        ),
        Budget(f"RSS at most {RSS_MB:g} MB", f"{rest.peak:.0f} MB", rest.peak <= RSS_MB),
        Budget(
            f"RSS at most 1/{RSS_SHARE:g} of kopf's",
            f"1/{kopf_peak / rest.peak:.1f}",
            rest.peak * RSS_SHARE <= kopf_peak,
        ),
        Budget(f"idle at most {IDLE_MB:g} MB", f"{ours.idle:.0f} MB", ours.idle <= IDLE_MB),
        Budget(
            f"at rest at most {ASKED:g} requests a Cluster and minute",
            f"{rest.asked:.2f}",
            rest.asked <= ASKED,
        ),
        Budget("at rest nothing is written", "something" if rest.writes else "nothing",
               not rest.writes),
        Budget("a restart creates nothing", str(rest.creates), rest.creates == 0),
        Budget(
            f"queues empty {RESTART_SECONDS:g} s after a restart",
            f"{rest.empty:.1f} s",
            rest.empty <= RESTART_SECONDS,
        ),
    ]  # fmt: skip


def _growth(rest: Rest, larger: Rest, count: int) -> list[Budget]:
    what = f"{LARGER * count} instead of {count}"
    return [
        Budget(
            f"{what}: CPU at most {GROWTH:g} times",
            times(larger.cpu, rest.cpu),
            larger.cpu <= GROWTH * rest.cpu,
        ),
        Budget(
            f"{what}: memory at most {GROWTH:g} times",
            f"{times(larger.peak, rest.peak)}, {larger.peak:.0f} MB",
            larger.peak <= GROWTH * rest.peak,
        ),
    ]


async def _lives(program: Program, count: int, trials: int) -> Lives:
    async with infra_bed() as bed:
        with at_work(program, bed) as process:
            await process.calm()
            idle = usage(process.pid).rss / MEGABYTE
            await _online(bed, ["warm"])
            await bed.delete("warm")
            short = [f"short-{number:03}" for number in range(2 * trials)]
            before = usage(process.pid).cpu
            await _online(bed, short)
            made = usage(process.pid).cpu
            alone = await _deletions(bed, short[:trials])
            ended = usage(process.pid).cpu
            await bed.control(create_seconds=LONG_SECONDS)
            long = [f"long-{number:03}" for number in range(count)]
            await bed.make(long)
            await bed.follower.until(lambda: all(bed.follower.ids.get(name) for name in long))
            beside = await _deletions(bed, short[trials:])
            assert bed.follower.in_state(long, "CREATING"), "they are no longer in flight"
    each, one = (made - before) / len(short), (ended - made) / trials
    return Lives(idle, 1000 * each, 1000 * one, alone, beside)


async def _online(bed: InfraBed, names: list[str]) -> None:
    await bed.make(names)
    await bed.follower.until(lambda: bed.follower.in_state(names, "ONLINE"))


async def _deletions(bed: InfraBed, names: list[str]) -> list[float]:
    """Begin deletions at a steady pace; seconds that each took."""
    async with asyncio.TaskGroup() as group:
        tasks = []
        for name in names:
            tasks.append(group.create_task(bed.delete(name)))
            await asyncio.sleep(1 / PACE)
    return [task.result() for task in tasks]


async def _settled(bed: InfraBed, program: Program, count: int) -> list[str]:
    """Clusters as this operator leaves them; it is not running."""
    with at_work(program, bed) as process:
        await _online(bed, ["sample"])
        await process.calm()
    names = [f"copy-{number:04}" for number in range(count - 1)]
    await bed.copies("sample", names)
    await bed.follower.until(lambda: bed.follower.in_state(names, "ONLINE"))
    return ["sample", *names]


async def _rest(program: Program, count: int, seconds: float) -> Rest:
    async with infra_bed() as bed:
        await _settled(bed, program, count)
        with at_work(program, bed) as process:
            # What was made by copying is seen once: a cloud says who uses it.
            await process.queues_empty(count)
            await process.calm()
        revision, counts = await bed.revision(), await bed.counts()
        began = monotonic()
        with at_work(program, bed) as process:
            await process.queues_empty(count)
            empty = monotonic() - began
            await asyncio.sleep(max(RESTART_SECONDS - empty, 0.0))
            before = _total(await bed.counts())
            await asyncio.sleep(GROWTH_SECONDS)
            used = usage(process.pid)
            await asyncio.sleep(seconds - GROWTH_SECONDS)
            after = await bed.counts()
            asked = (_total(after) - before) / count / seconds * 60
            peak = usage(process.pid).peak
        creates = after.get("create", 0) - counts.get("create", 0)
        written = await bed.revision() != revision
    return Rest(peak / MEGABYTE, empty, creates, written, used.cpu, asked)


def _total(counts: dict[str, int]) -> int:
    return sum(counts.values())


async def _changes(program: Program, count: int, trials: int) -> tuple[list[float], float]:
    """Let machines fail; seconds until each is written, and the peak in megabytes."""
    async with infra_bed() as bed:
        names = await _settled(bed, program, count)
        with at_work(program, bed, OBSERVE_INTERVAL=f"{INTERVAL:g}s") as process:
            await process.calm()
            changed = {}
            for name in names[:trials]:
                changed[name] = await bed.fail(name)
                await asyncio.sleep(INTERVAL / trials)
            await bed.follower.until(
                lambda: bed.follower.in_state(list(changed), "FAILING_RECONCILIATION")
            )
            peak = usage(process.pid).peak
    seen = bed.follower.seen
    taken = [seen[name, "FAILING_RECONCILIATION"] - at for name, at in changed.items()]
    return taken, peak / MEGABYTE


def _at(taken: list[float], share: float = 0.99) -> float:
    return sorted(taken)[ceil(len(taken) * share) - 1]


def _p99(taken: list[float]) -> str:
    found = _at(taken)
    return f"{found:.2f} s" if found < 100 else f"{found:,.0f} s"
