"""Better places: none for noise, and for those that are better only so many at once."""

from __future__ import annotations

from random import Random

import pytest

from quintant.core.object import Request
from quintant.operators.shifu.plan.placement import (
    NodeOffer,
    NodeTable,
    PlacementDecision,
    PlacementRequest,
)
from quintant.operators.shifu.plan.reading import SmoothedReading
from quintant.operators.shifu.plan.rescheduling import MoveLimits, Resident, plan_moves
from quintant.operators.shifu.rules.amounts import MEBIBYTE
from quintant.operators.shifu.rules.geo import GeoPoint

GIB = 1024 * MEBIBYTE
NEED = 40 * MEBIBYTE
WANT = PlacementRequest(NEED)


class Site:
    """Nodes whose memory is measured with noise, and devices that may move."""

    def __init__(self, seed: int, nodes: int, devices: int, noise: float) -> None:
        self.chance, self.noise = Random(seed), noise
        self.size = {f"n{at:03}": 4 * GIB for at in range(nodes)}
        self.base = {name: self.chance.uniform(0.2, 0.6) * 4 * GIB for name in self.size}
        self.where: dict[Request, str] = {}
        self.readings: dict[str, SmoothedReading] = {}
        self.streaks: dict[Request, int] = {}
        table = NodeTable(
            NodeOffer(name, free=int(self.size[name] - self.base[name])) for name in self.size
        )
        for number in range(devices):
            found = table.place(WANT)
            assert isinstance(found, PlacementDecision)
            table.bind(found.node, NEED)
            self.where[Request(f"d{number}", "devices")] = found.node

    def add(self, name: str, size: int) -> None:
        self.size[name], self.base[name] = size, 0.05 * size

    def round(self) -> int:
        """Measure, move; how many moved."""
        self._measure()
        table = NodeTable(self._offers(), tolerance=50.0)
        for node in self.where.values():
            table.bind(node, 0)
        residents = [Resident(key, node, WANT) for key, node in self.where.items()]
        moves, self.streaks = plan_moves(table, residents, self.streaks, MoveLimits())
        for move in moves:
            self.where[move.key] = move.decision.node
        return len(moves)

    def _measure(self) -> None:
        on = dict.fromkeys(self.size, 0)
        for node in self.where.values():
            on[node] += 1
        for name, size in self.size.items():
            used = self.base[name] + on[name] * NEED + self.chance.gauss(0, self.noise * size)
            free = min(size, max(0.0, size - used))
            known = self.readings.get(name)
            self.readings[name] = SmoothedReading(free) if known is None else known.after(free)

    def _offers(self) -> list[NodeOffer]:
        return [
            NodeOffer(
                name, free=int(each.average), deviation=each.deviation, settled=each.settled,
                most=100,
            )
            for name, each in self.readings.items()
        ]  # fmt: skip


@pytest.mark.parametrize("noise", [0.05, 0.10])
def test_e1_an_hour_of_noise_moves_nobody(noise: float) -> None:
    site = Site(seed=11, nodes=50, devices=600, noise=noise)
    assert [site.round() for _ in range(120)] == [0] * 120


def test_e2_empty_nodes_fill_up_within_the_budget_and_then_all_is_still() -> None:
    site = Site(seed=5, nodes=18, devices=400, noise=0.05)
    for number in range(2):
        site.add(f"z{number}", 32 * GIB)
    moved = [site.round() for _ in range(64)]
    assert sum(moved) > 100
    assert max(moved) <= 20
    assert sum(moved[-40:]) <= 4


def test_a_place_must_be_better_for_three_rounds_in_a_row() -> None:
    one = Resident(Request("a", "devices"), "old", WANT)
    streaks: dict[Request, int] = {}
    moved = []
    for free in (32, 1, 32, 32, 32):
        table = NodeTable([NodeOffer("old", free=GIB), NodeOffer("new", free=free * GIB)])
        table.bind("old", 0)
        moves, streaks = plan_moves(table, [one], streaks, MoveLimits())
        moved.append(len(moves))
    assert moved == [0, 0, 0, 0, 1]


def test_a_tenth_of_a_node_leaves_at_once_at_most() -> None:
    table = NodeTable([NodeOffer("old", free=GIB), NodeOffer("new", free=64 * GIB)])
    residents = [Resident(Request(f"d{at}", "devices"), "old", WANT) for at in range(30)]
    for _ in residents:
        table.bind("old", 0)
    ready = dict.fromkeys((each.key for each in residents), 3)
    moves, streaks = plan_moves(table, residents, ready, MoveLimits())
    assert len(moves) == 3
    assert len(streaks) == 27


def test_a_device_that_is_near_never_moves_for_memory() -> None:
    here = GeoPoint(48.8, 2.3)
    want = PlacementRequest(NEED, location=here)
    table = NodeTable(
        [NodeOffer("near", free=GIB, location=here), NodeOffer("rich", free=64 * GIB)]
    )
    table.bind("near", 0)
    one = Resident(Request("a", "devices"), "near", want, nearby=True)
    assert plan_moves(table, [one], {one.key: 3}, MoveLimits()) == ([], {})
