"""shifu: placing devices, holding them, moving them for a lost node and not for noise; agents."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.report import Budget, Table, times
from benchmarks.shifu_agents import agents_table, applied_table
from benchmarks.shifu_loss import loss_table
from benchmarks.shifu_noise import noise_table
from benchmarks.shifu_program import controller, rested
from benchmarks.sizes import Sizes
from foreign.catalogue import SHIFU_CONTROLLER
from foreign.errors import ProgramError
from processes.running import running_command
from processes.usage import MEGABYTE, usage
from quintant.operators.shifu.observed.placement import PlacementDecision, PlacementRequest
from quintant.operators.shifu.plan.placement import NodeOffer, NodeTable
from quintant.operators.shifu.rules.amounts import MEBIBYTE
from quintant.operators.shifu.rules.geo import GeoPoint, distance
from shifu_site.running import shown_site

NEED = 40 * MEBIBYTE
MEMORY_MB = 100.0
PLACE_SECONDS = 1.0
FASTER = 20.0
REST_SECONDS = 10.0
REST_CORE = 0.03
PLACING = (
    "devices and nodes anywhere on earth, 110 deviceShifus to a node; the nearest with room, one "
    "after another, each counted before the next. Beside it the plain way: haversine to every node "
    "for every device. Both answer the same. CPU of one process."
)
HOLDING = (
    "a server that only shows: each device has a Deployment, a Pod, a Service and a ConfigMap, "
    "with the statuses and managedFields that a server gives them. The operator starts as in a "
    "cluster, over HTTP, and is measured until it rests; the peak is the kernel's. Then it is left "
    "alone for {rest:g} s. Beside it upstream's controller, which follows devices and does nothing."
)


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure all."""
    say("shifu: placing")
    yield _placing(sizes.objects, sizes.nodes)
    say("shifu: noise")
    yield noise_table(sizes.pods, sizes.nodes // 5, max(1, sizes.trials // 5))
    say("shifu: holding")
    yield _holding(sizes.objects, sizes.nodes, say)
    say("shifu: a lost node")
    yield loss_table(sizes.objects // 10)
    say("shifu: agents")
    yield agents_table(sizes.requests, say)
    say("shifu: applying")
    yield applied_table(max(2, sizes.trials // 20))


def _placing(devices: int, nodes: int) -> Table:
    chance = Random(1)
    offers = [
        NodeOffer(f"n{at:03}", free=64 * 1024 * MEBIBYTE, most=110, location=_anywhere(chance))
        for at in range(nodes)
    ]
    wants = [PlacementRequest(NEED, location=_anywhere(chance)) for _ in range(devices)]
    ours, found = _timed(lambda: _by_table(offers, wants))
    plain, asked = _timed(lambda: _by_asking(offers, wants))
    return Table(
        f"Placing {devices:,} devices on {nodes} nodes",
        PLACING,
        ("", "CPU", "times faster"),
        [("shifu", f"{ours:.2f} s", times(plain, ours)), ("plain", f"{plain:.2f} s", "1.0x")],
        [
            Budget("the same answers", str(found == asked), found == asked),
            Budget(f"under {PLACE_SECONDS:g} s", f"{ours:.2f} s", ours < PLACE_SECONDS),
            Budget(f"{FASTER:g} times faster", times(plain, ours), plain >= FASTER * ours),
        ],
    )


def _by_table(offers: list[NodeOffer], wants: list[PlacementRequest]) -> list[str]:
    table, found = NodeTable(offers), []
    for want in wants:
        decided = table.find_placement(want)
        assert isinstance(decided, PlacementDecision)
        table.bind(decided.node, NEED)
        found.append(decided.node)
    return found


def _by_asking(offers: list[NodeOffer], wants: list[PlacementRequest]) -> list[str]:
    bound, found = dict.fromkeys((offer.name for offer in offers), 0), []
    for want in wants:
        assert want.location is not None
        far = [
            (distance(want.location, offer.location), offer.name)
            for offer in offers
            if offer.location is not None and bound[offer.name] < offer.most
        ]
        least = min(far)[0]
        near = [name for meters, name in far if meters <= least + 50.0]
        chosen = min(near, key=lambda name: (bound[name], name))
        bound[chosen] += 1
        found.append(chosen)
    return found


def _holding(devices: int, nodes: int, say: Callable[[str], None]) -> Table:
    theirs = _upstream_program(say)
    with shown_site(devices, nodes) as site, TemporaryDirectory() as folder:
        way = site.kubeconfig(Path(folder))
        began = time.monotonic()
        with controller(way) as it:
            used, seconds = rested(it.pid), time.monotonic() - began
            time.sleep(REST_SECONDS)
            idle = (usage(it.pid).cpu - used.cpu) / REST_SECONDS
            peak = usage(it.pid).peak / MEGABYTE
        writes = site.writes()
        beside = [_upstream(theirs, way)] if theirs else []
    return Table(
        f"The controller with {devices:,} devices on {nodes} nodes",
        HOLDING.format(rest=REST_SECONDS),
        ("", "RSS peak", "CPU of the start", "at rest after", "at rest", "writes"),
        [("shifu", f"{peak:.0f} MB", f"{used.cpu:.1f} s", f"{seconds:.0f} s", f"{idle:.1%}",
          str(writes)), *beside],
        [
            Budget(f"under {MEMORY_MB:g} MB", f"{peak:.0f} MB", peak < MEMORY_MB),
            Budget(f"under {REST_CORE:.0%} of a core at rest", f"{idle:.1%}", idle < REST_CORE),
            Budget("a restart writes nothing", str(writes), writes == 0),
        ],
    )  # fmt: skip


def _upstream_program(say: Callable[[str], None]) -> str:
    """Upstream's controller; empty where it cannot be built."""
    try:
        return str(SHIFU_CONTROLLER.provide(os.environ, report=say))
    except ProgramError as error:
        say(f"upstream's controller left out: {error}")
        return ""


def _upstream(program: str, way: Path) -> tuple[str, ...]:
    """The row of upstream's controller, which holds devices alone, and logs a line for each."""
    began = time.monotonic()
    quiet = ("--metrics-bind-address=0", "--health-probe-bind-address=0")
    with running_command((program, f"--kubeconfig={way}", *quiet)) as child:
        used = rested(child.pid)
        seconds, peak = time.monotonic() - began, used.peak / MEGABYTE
    start = (f"{peak:.0f} MB", f"{used.cpu:.1f} s", f"{seconds:.0f} s")
    return ("upstream's, devices alone", *start, "-", "-")


def _timed(work: Callable[[], list[str]]) -> tuple[float, list[str]]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def _anywhere(chance: Random) -> GeoPoint:
    return GeoPoint(chance.uniform(-80, 80), chance.uniform(-180, 180))
