"""The series of one process of a sharded manager: moves as they happen, states when scraped."""

from __future__ import annotations

from collections import Counter as Count
from collections.abc import Iterator
from typing import Final, Literal

from quintant.core.clock import monotonic
from quintant.metrics import Counter, Gauge, Histogram, Metric
from quintant.runtime.shard.layout import range_name
from quintant.runtime.shard.owned_ranges import OwnedRanges
from quintant.runtime.shard.range_states import RangeState

# Seconds: from a range with nothing under way to one that waits for a call of ten minutes.
HANDOVER_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600)

MOST_KEYS = 10
"""Of a range that are named in series: there may be thousands of calls."""

Move = Literal["taken", "released", "lost"]
"""How a range came, or went; what is lost was taken away by others."""


class ShardMetrics:
    """A collector: what this process has of the ranges, and what it sees of the others."""

    def __init__(self, owned: OwnedRanges) -> None:
        name = "quintant_shard_"
        self._owned = owned
        self._moves = Counter(name + "moves_total", "Ranges that came or went.", ("move",))
        self._handovers = Histogram(
            name + "handover_seconds", "Time to give a range.", (), HANDOVER_BUCKETS
        )
        refused = Counter(name + "refused_writes_total", "Writes of ranges that are not held.")
        burials = Counter(name + "burials_total", "Members that were silent, and were buried.")
        members = Gauge(name + "members", "Members that ranges are divided by.")
        unserved = Gauge(name + "unserved", "Ranges that no living member holds.")
        self._others = (self._moves, self._handovers, refused, burials, members, unserved)
        self.refused: Final = refused.labels().inc
        self.buried: Final = burials.labels().inc
        self.handed_over: Final = self._handovers.labels().observe
        self._members, self._unserved = members.labels().set, unserved.labels().set
        for move in ("taken", "released", "lost"):
            self._moves.labels(move)

    def moved(self, move: Move, ranges: int) -> None:
        """So many ranges came or went."""
        self._moves.labels(move).inc(ranges)

    def seen(self, members: int, unserved: int) -> None:
        """What the group looks like from here."""
        self._members(members)
        self._unserved(unserved)

    def collect(self) -> Iterator[Metric]:
        """Every series, for a scrape."""
        ranges = Gauge("quintant_shard_ranges", "Ranges of this process.", ("state",))
        counts = Count(self._owned.states.values())
        for state in RangeState:
            if state is not RangeState.FOREIGN:
                ranges.labels(state.name.lower()).set(counts[state])
        closed = Gauge("quintant_shard_fence_closed", "1 while no write may leave.")
        closed.labels().set(not self._owned.is_open())
        for family in (ranges, closed, self._overdue(), *self._others):
            yield from family.collect()

    def _overdue(self) -> Gauge:
        """What keeps ranges here whose grace is over: as a rule nothing, and no series."""
        overdue = Gauge(
            "quintant_shard_overdue_seconds",
            "Time for which a range is given, and not free for what goes on in it.",
            ("range", "key"),
        )
        now = monotonic()
        for number, given in self._owned.overdue.items():
            for key in self._owned.under_way(number)[:MOST_KEYS]:
                overdue.labels(range_name(number), key).set(now - given)
        return overdue
