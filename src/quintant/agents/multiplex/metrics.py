"""Counters and gauges in the text format of Prometheus, by hand: ten series need no library.

A series is a number per set of label values. Names, labels and help are declared once; values with
other labels appear when they are first counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: from a request on this machine to one that nobody waits for any more."""


class Series:
    """A counter, or a gauge."""

    def __init__(self, name: str, help: str, kind: str, labels: Sequence[str] = ()) -> None:
        self.name, self._help, self._kind, self._labels = name, help, kind, tuple(labels)
        self.values: dict[tuple[str, ...], float] = {} if labels else {(): 0.0}

    def add(self, *labels: str, by: float = 1.0) -> None:
        """Count."""
        self.values[labels] = self.values.get(labels, 0.0) + by

    def set(self, *labels: str, to: float) -> None:
        """Measure."""
        self.values[labels] = to

    def lines(self) -> Iterable[str]:
        yield f"# HELP {self.name} {self._help}"
        yield f"# TYPE {self.name} {self._kind}"
        for labels, value in sorted(self.values.items()):
            yield f"{self.name}{_braces(self._labels, labels)} {value:.17g}"


class Histogram:
    """How long something took, without labels."""

    def __init__(self, name: str, help: str) -> None:
        self.name, self._help = name, help
        self._counts = [0] * (len(BUCKETS) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Something took so long."""
        self._counts[bisect_left(BUCKETS, seconds)] += 1
        self._sum += seconds

    def lines(self) -> Iterable[str]:
        yield f"# HELP {self.name} {self._help}"
        yield f"# TYPE {self.name} histogram"
        total = 0
        for bound, count in zip((*map(str, BUCKETS), "+Inf"), self._counts, strict=True):
            total += count
            yield f'{self.name}_bucket{{le="{bound}"}} {total}'
        yield f"{self.name}_sum {self._sum:.17g}"
        yield f"{self.name}_count {total}"


def exposition(series: Iterable[Series | Histogram]) -> str:
    """All series as the text that is scraped."""
    return "\n".join(line for each in series for line in each.lines()) + "\n"


def _braces(names: Sequence[str], values: Sequence[str]) -> str:
    pairs = ",".join(f'{n}="{_escaped(v)}"' for n, v in zip(names, values, strict=True))
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
