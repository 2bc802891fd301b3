"""The series of shifu. Counters are taken as passes end; gauges are read off the topology."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from quintant.core.clock import monotonic
from quintant.metrics import Collector, Counter, Gauge, Histogram, Metric
from quintant.operators.shifu.api.device import PHASES
from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.plan.device import EVACUATED, PLACED, Choice
from quintant.operators.shifu.rules.limits import NodePhase
from quintant.operators.shifu.topology.topology import Topology

# Seconds; a thousand are decided in a tenth of one.
_SCHEDULE_BUCKETS = (0.00001, 0.0001, 0.001, 0.01, 0.1, 1.0)
_EVACUATION_BUCKETS = (0.1, 0.5, 1.0, 5.0, 15.0, 45.0, 120.0, 600.0)
_NODES = 500
"""Nodes that have a series of their own."""

Counts = Callable[[], Mapping[str, float]]


class ShifuMetrics:
    """What shifu counts and measures; one set per manager."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self.placements: Counter = Counter(
            "shifu_placements_total", "Places that were chosen for new devices.", ["kind"]
        )
        self.moves: Counter = Counter(
            "shifu_moves_total", "DeviceShifus that moved, by cause.", ["cause"]
        )
        self.seconds: Histogram = Histogram(
            "shifu_schedule_seconds", "Deciding where a device goes.", buckets=_SCHEDULE_BUCKETS
        )
        self.evacuation: Histogram = Histogram(
            "shifu_evacuation_seconds", "From the decision that a device leaves to its move.",
            buckets=_EVACUATION_BUCKETS,
        )  # fmt: skip
        self.write_errors: Counter = Counter(
            "shifu_write_errors_total", "Passes that ended in an error."
        )
        self.gauges: Final = _Gauges(
            _Gauge("shifu_devices", "Devices by phase.", "phase", self._by_phase),
            _Gauge("shifu_nodes", "Edge nodes by phase.", "phase", self._by_node_phase),
            _Gauge("shifu_unplaced_devices", "Devices without a node.", "", self._unplaced),
            _Gauge("shifu_edgemap_vertices", "Vertices of edgeMap.", "", self._vertices),
            _Gauge("shifu_edgemap_edges", "Edges of edgeMap.", "", self._edges),
            _Gauge("shifu_node_free_bytes", "Free memory of nodes.", "node", self._free),
        )

    def collectors(self) -> tuple[Collector, ...]:
        """All of them, to be served."""
        return (
            self.placements, self.moves, self.seconds, self.evacuation, self.write_errors,
            self.gauges,
        )  # fmt: skip

    @contextmanager
    def scheduling(self) -> Iterator[None]:
        """Measure a decision."""
        began = monotonic()
        yield
        self.seconds.observe(monotonic() - began)

    def chose(self, choice: Choice, observed: Observed) -> None:
        """Count what came of a choice."""
        if choice.cause == PLACED and choice.decision is not None:
            self.placements.labels(choice.decision.kind).inc()
        elif choice.cause:
            self.moves.labels(choice.cause).inc()
        if choice.cause == EVACUATED and observed.intent is not None:
            self.evacuation.observe(monotonic() - observed.intent.at)

    def _by_phase(self) -> Mapping[str, float]:
        if not self._topology.attached:
            return {}
        counted = Tally(
            each.status.phase if each.status is not None else "Pending"
            for each in self._topology.store(self._topology.kind)
        )
        return {phase: counted[phase] for phase in PHASES}

    def _by_node_phase(self) -> Mapping[str, float]:
        counted = Tally(record.phase.value for record in self._topology.nodes)
        return {phase.value: counted[phase.value] for phase in NodePhase}

    def _unplaced(self) -> Mapping[str, float]:
        edgemap = self._topology.edgemap
        return {"": edgemap.device_count() - edgemap.edges()}

    def _vertices(self) -> Mapping[str, float]:
        return {"": self._topology.edgemap.vertices()}

    def _edges(self) -> Mapping[str, float]:
        return {"": self._topology.edgemap.edges()}

    def _free(self) -> Mapping[str, float]:
        records = sorted(self._topology.nodes, key=lambda record: record.name)
        return {record.name: record.free for record in records[:_NODES]}


class _Gauge:
    def __init__(self, name: str, documentation: str, label: str, counts: Counts) -> None:
        self.name = name
        self.documentation = documentation
        self.label = label
        self.counts = counts

    def fresh(self) -> Gauge:
        return Gauge(self.name, self.documentation, [self.label] if self.label else [])


class _Gauges:
    """Gauges that are computed when they are scraped, so that they cannot be wrong."""

    def __init__(self, *gauges: _Gauge) -> None:
        self._gauges = gauges

    def describe(self) -> Iterator[Metric]:
        for each in self._gauges:
            yield from each.fresh().describe()

    def collect(self) -> Iterator[Metric]:
        for each in self._gauges:
            gauge = each.fresh()
            for value, number in each.counts().items():
                (gauge.labels(value) if each.label else gauge).set(number)
            yield from gauge.collect()
