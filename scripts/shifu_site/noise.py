"""Nodes whose memory is measured with noise, and devices that shifu moves, or a plain rule does."""

from __future__ import annotations

from random import Random

from quintant.core.object import Request
from quintant.operators.shifu.observed.placement import PlacementDecision, PlacementRequest
from quintant.operators.shifu.plan.placement import NodeOffer, NodeTable
from quintant.operators.shifu.plan.reading import SmoothedReading
from quintant.operators.shifu.plan.rescheduling import Resident, plan_moves
from quintant.operators.shifu.rules.amounts import MEBIBYTE
from quintant.operators.shifu.rules.limits import MoveLimits

GIB = 1024 * MEBIBYTE
NEED = 40 * MEBIBYTE
WANT = PlacementRequest(NEED)


class NoisySite:
    """Nodes, and devices that may move."""

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
            found = table.find_placement(WANT)
            assert isinstance(found, PlacementDecision)
            table.bind(found.node, NEED)
            self.where[Request(f"d{number}", "devices")] = found.node

    def add(self, name: str, size: int) -> None:
        """One more node, almost empty."""
        self.size[name], self.base[name] = size, 0.05 * size

    def round(self) -> int:
        """Measure, and move as shifu does; how many moved."""
        for name, free in self._measured().items():
            known = self.readings.get(name)
            self.readings[name] = SmoothedReading(free) if known is None else known.after(free)
        table = NodeTable(self._offers(), tolerance=50.0)
        for node in self.where.values():
            table.bind(node, 0)
        residents = [Resident(key, node, WANT) for key, node in self.where.items()]
        moves, self.streaks = plan_moves(table, residents, self.streaks, MoveLimits())
        for move in moves:
            self.where[move.key] = move.decision.node
        return len(moves)

    def plain_round(self) -> int:
        """Measure, and send everybody to the freest node; how many moved."""
        free, moved = self._measured(), 0
        for key, node in self.where.items():
            freest = max(free, key=free.__getitem__)
            if free[freest] - NEED > free[node]:
                free[freest] -= NEED
                free[node] += NEED
                self.where[key] = freest
                moved += 1
        return moved

    def _measured(self) -> dict[str, float]:
        on = dict.fromkeys(self.size, 0)
        for node in self.where.values():
            on[node] += 1
        found = {}
        for name, size in self.size.items():
            used = self.base[name] + on[name] * NEED + self.chance.gauss(0, self.noise * size)
            found[name] = min(size, max(0.0, size - used))
        return found

    def _offers(self) -> list[NodeOffer]:
        return [
            NodeOffer(
                name, free=int(each.average), deviation=each.deviation, settled=each.settled,
                most=100,
            )
            for name, each in self.readings.items()
        ]  # fmt: skip
