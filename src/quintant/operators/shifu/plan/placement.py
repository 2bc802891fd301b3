"""Where a deviceShifu runs: on its device's node, on the nearest, on the one with most memory free.

    pinned  >  location proximity  >  resource availability  >  fewer deviceShifus  >  name

A `NodeTable` is a snapshot of the nodes, and what was placed on them since: every placement takes
its memory at once, so that a thousand of them in one moment do not all choose the same node. It has
no clock and no I/O; the same questions in the same order get the same answers.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from quintant.operators.shifu.observed.placement import (
    NoPlacement,
    PlacementDecision,
    PlacementRequest,
)
from quintant.operators.shifu.plan.nearest import NearestIndex
from quintant.operators.shifu.rules.amounts import MEBIBYTE
from quintant.operators.shifu.rules.geo import GeoPoint, distance

PIN_MISSING, NONE_FEASIBLE = "PinnedNodeNotFound", "NoFeasibleNode"
CLOSED = -1
"""The memory of a node that takes no deviceShifu."""


@dataclass(frozen=True, slots=True)
class NodeOffer:
    """What a node has to offer."""

    name: str
    refusal: str = ""
    """Why it takes no deviceShifu at all: Lost, Cordoned, Tainted …"""
    free: int = 0
    """Bytes, smoothed, without what is reserved for others."""
    deviation: float = 0.0
    """Bytes: how far the true value may well be from `free`."""
    settled: bool = True
    """Whether it was measured often enough to be moved to for its memory."""
    most: int = 10**9
    """How many deviceShifus it takes."""
    location: GeoPoint | None = None
    zone: str = ""
    region: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    accepts: frozenset[str] = frozenset()
    """Protocols; none means all."""


class NodeTable:
    """The nodes, and what is bound to each."""

    def __init__(self, offers: Iterable[NodeOffer], tolerance: float = 50.0) -> None:
        self.offers: tuple[NodeOffer, ...] = tuple(offers)
        self.tolerance = tolerance
        self._number = {offer.name: at for at, offer in enumerate(self.offers)}
        self._bound = [0] * len(self.offers)
        self._reserved = [0] * len(self.offers)
        self._available = [CLOSED if offer.refusal else offer.free for offer in self.offers]
        self._heap: list[tuple[int, int, str, int]] = []
        self._zones: dict[str, list[int]] = defaultdict(list)
        self._regions: dict[str, list[int]] = defaultdict(list)
        for at, offer in enumerate(self.offers):
            self._zones[offer.zone].append(at)
            self._regions[offer.region].append(at)
        located = [(at, each.location) for at, each in enumerate(self.offers) if each.location]
        self._nearest = NearestIndex([(at, point) for at, point in located if point])
        self._any_located = bool(located)
        self._fill()

    def __contains__(self, node: str) -> bool:
        return node in self._number

    def offer(self, node: str) -> NodeOffer | None:
        """What a node has to offer; None if there is none of that name."""
        at = self._number.get(node)
        return None if at is None else self.offers[at]

    def available(self, node: str) -> int:
        """Bytes that are free and not promised; CLOSED if it takes no deviceShifu."""
        return self._available[self._number[node]]

    def bound(self, node: str) -> int:
        """How many deviceShifus are bound to a node."""
        return self._bound[self._number[node]]

    def bind(self, node: str, reserved: int) -> None:
        """Count one more deviceShifu on a node, and what no measurement has seen of it yet."""
        self._change(node, 1, reserved)

    def release(self, node: str, reserved: int) -> None:
        """Count one less."""
        self._change(node, -1, -reserved)

    @contextmanager
    def without(self, node: str, reserved: int) -> Iterator[None]:
        """Leave out one that is bound, for it does not compete with itself."""
        self.release(node, reserved)
        try:
            yield
        finally:
            self.bind(node, reserved)

    def find_placement(self, want: PlacementRequest) -> PlacementDecision | NoPlacement:
        """Where a device goes; the caller binds it."""
        if want.node and (want.strict or self._pin_fits(want)):
            return self._pinned(want)
        found = self._nearby(want) or self._zoned(want) or self._freest(want)
        return found or self._nowhere(want)

    def refusal(self, node: NodeOffer, want: PlacementRequest) -> str:
        """Why a node does not suit a device; empty if it does."""
        at = self._number[node.name]
        if node.refusal:
            return node.refusal
        if self._bound[at] >= node.most:
            return "MaxDeviceShifus"
        if not _suits(node, want):
            return _mismatch(node, want)
        return "" if self._available[at] >= want.memory else "InsufficientMemory"

    def _pinned(self, want: PlacementRequest) -> PlacementDecision | NoPlacement:
        node = self.offer(want.node)
        if node is None:
            return NoPlacement(PIN_MISSING, f"there is no edge node {want.node!r} to be pinned to")
        meters = distance(want.location, node.location) if want.location and node.location else None
        return PlacementDecision(want.node, "Pinned", "its device is connected to it", meters)

    def _pin_fits(self, want: PlacementRequest) -> bool:
        node = self.offer(want.node)
        return node is not None and not self.refusal(node, want)

    def _nearby(self, want: PlacementRequest) -> PlacementDecision | None:
        if want.location is None or not self._any_located:
            return None
        near = self._nearest.within(want.location, self.tolerance, self._admission(want))
        if not near:
            return None
        chosen = self._best(at for _, at in near)
        meters = next(far for far, at in near if at == chosen)
        beside = f", {len(near)} within {self.tolerance:g} m" if len(near) > 1 else ""
        reason = f"nearest, {meters / 1000:.1f} km{beside}"
        return PlacementDecision(self.offers[chosen].name, "Proximity", reason, meters)

    def _zoned(self, want: PlacementRequest) -> PlacementDecision | None:
        admits = self._admission(want)
        for word, name, index in (
            ("zone", want.zone, self._zones),
            ("region", want.region, self._regions),
        ):
            there = [at for at in index.get(name, ()) if admits(at)] if name else []
            if there:
                chosen = self.offers[self._best(there)].name
                return PlacementDecision(chosen, "Proximity", f"in {word} {name}")
        return None

    def _freest(self, want: PlacementRequest) -> PlacementDecision | None:
        chosen, aside = CLOSED, list[tuple[int, int, str, int]]()
        while self._heap and chosen == CLOSED:
            entry = heapq.heappop(self._heap)
            at = entry[3]
            if entry != self._entry(at) or self._available[at] == CLOSED:
                continue
            aside.append(entry)
            if self._available[at] >= want.memory and _suits(self.offers[at], want):
                chosen = at
            elif -entry[0] * MEBIBYTE + MEBIBYTE <= want.memory:
                break
        for entry in aside:
            heapq.heappush(self._heap, entry)
        if chosen == CLOSED:
            return None
        free = self._available[chosen] // MEBIBYTE
        return PlacementDecision(self.offers[chosen].name, "Memory", f"{free} MiB free, the most")

    def _nowhere(self, want: PlacementRequest) -> NoPlacement:
        counts = Counter(self.refusal(node, want) for node in self.offers)
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
        return NoPlacement(NONE_FEASIBLE, f"0/{len(self.offers)} edge nodes: {listed or 'none'}")

    def _admission(self, want: PlacementRequest) -> Callable[[int], bool]:
        """Whether a node suits a device, by number; most ask for nothing but memory."""
        available, memory, offers = self._available, want.memory, self.offers
        return lambda at: available[at] >= memory and _suits(offers[at], want)

    def _best(self, numbers: Iterable[int]) -> int:
        return min(numbers, key=self._entry)

    def _entry(self, at: int) -> tuple[int, int, str, int]:
        """What nodes are sorted by: memory by the mebibyte, then deviceShifus, then the name."""
        return -(self._available[at] // MEBIBYTE), self._bound[at], self.offers[at].name, at

    def _change(self, node: str, count: int, reserved: int) -> None:
        at = self._number.get(node)
        if at is None:
            return
        offer = self.offers[at]
        self._bound[at] += count
        self._reserved[at] += reserved
        closed = offer.refusal or self._bound[at] >= offer.most
        self._available[at] = CLOSED if closed else max(0, offer.free - self._reserved[at])
        if not closed:
            heapq.heappush(self._heap, self._entry(at))
            if len(self._heap) > 8 * len(self.offers) + 64:
                self._fill()

    def _fill(self) -> None:
        self._heap = [self._entry(at) for at, free in enumerate(self._available) if free != CLOSED]
        heapq.heapify(self._heap)


def _suits(node: NodeOffer, want: PlacementRequest) -> bool:
    if node.accepts and want.protocol not in node.accepts:
        return False
    if want.avoided and node.name in want.avoided:
        return False
    return not want.selector or want.selector.items() <= node.labels.items()


def _mismatch(node: NodeOffer, want: PlacementRequest) -> str:
    if node.accepts and want.protocol not in node.accepts:
        return "ProtocolNotAccepted"
    return "Rejected" if node.name in want.avoided else "SelectorMismatch"


@dataclass(frozen=True, slots=True)
class CandidateNode:
    """How a node looks to a device."""

    node: str
    refusal: str
    available: int
    distance: float | None


def candidates(table: NodeTable, want: PlacementRequest) -> Iterator[CandidateNode]:
    """Every node as a device sees it, in the order of the table."""
    for node in table.offers:
        meters = distance(want.location, node.location) if want.location and node.location else None
        free = max(0, table.available(node.name))
        yield CandidateNode(node.name, table.refusal(node, want), free, meters)
