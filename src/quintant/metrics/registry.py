"""What is served together: collectors, none of which has a name that another one has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from quintant.metrics.exposition import AnyMetric, Collector, render

# What the names of samples may end in, by type: a metric must not be called as another's sample.
_SUFFIXES = {
    "counter": ("_total", "_created"),
    "summary": ("_sum", "_count", "_created"),
    "histogram": ("_bucket", "_sum", "_count", "_created"),
    "gaugehistogram": ("_bucket", "_gsum", "_gcount"),
    "info": ("_info",),
}


class Registry:
    """Collectors, in the order in which they came."""

    def __init__(self, collectors: Iterable[Collector] = ()) -> None:
        self._collectors: list[Collector] = []
        self._names: set[str] = set()
        for collector in collectors:
            self.register(collector)

    def register(self, collector: Collector) -> None:
        """Serve a collector; ValueError if a name is taken."""
        names = set(_names(collector))
        if taken := sorted(names & self._names):
            raise ValueError(f"there is a metric of this name already: {', '.join(taken)}")
        self._names |= names
        self._collectors.append(collector)

    def collect(self) -> Iterator[AnyMetric]:
        """The present numbers of all; so a registry is a collector, too."""
        for collector in self._collectors:
            yield from collector.collect()

    def render(self) -> bytes:
        """Every series in Prometheus' text format."""
        return render((self,))

    def value(self, name: str, labels: Mapping[str, str] | None = None) -> float | None:
        """One number, by the name and labels of its sample; None if there is none."""
        samples = (sample for metric in self.collect() for sample in metric.samples)
        found = (each for each in samples if each.name == name and each.labels == (labels or {}))
        return next((each.value for each in found), None)


def _names(collector: Collector) -> Iterator[str]:
    """The names that a collector takes; one that does not describe itself takes none."""
    describe = getattr(collector, "describe", None)
    described: Iterable[AnyMetric] = describe() if describe is not None else ()
    for metric in described:
        yield metric.name
        yield from (metric.name + suffix for suffix in _SUFFIXES.get(metric.type, ()))
