"""Metrics as the text that Prometheus scrapes, byte for byte what prometheus_client writes.

Whatever has the shape of a metric is written: ours, and those of collectors that a program made
with prometheus_client. Its `_created` series are left out: they would double every counter, and
nothing reads them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, SupportsFloat

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The Content-Type of what `render` returns."""

# What OpenMetrics calls otherwise than the text format: the end of the name, and the type.
_TYPES = {
    "counter": ("_total", "counter"),
    "info": ("_info", "gauge"),
    "stateset": ("", "gauge"),
    "gaugehistogram": ("", "histogram"),
    "unknown": ("", "untyped"),
}
# Samples that the text format knows only as gauges of their own.
_APART = ("_gcount", "_gsum")
# Go writes larger numbers with an exponent, and Python does not yet.
_MOST_DIGITS = 6


class MetricSample(NamedTuple):
    """One number of a metric."""

    name: str
    labels: Mapping[str, str]
    value: float
    timestamp: float | None = None
    """Seconds since 1970; None for now."""


class Metric(NamedTuple):
    """A metric with its present numbers; `name` is without the `_total` of a counter."""

    name: str
    documentation: str
    type: str
    samples: Sequence[MetricSample]
    labels: tuple[str, ...] = ()
    """The names of its labels; their values are in the samples."""


class AnySample(Protocol):
    """The shape of a sample."""

    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> Mapping[str, str]: ...
    @property
    def value(self) -> float: ...
    @property
    def timestamp(self) -> SupportsFloat | None: ...


class AnyMetric(Protocol):
    """The shape of a metric."""

    @property
    def name(self) -> str: ...
    @property
    def documentation(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def samples(self) -> Sequence[AnySample]: ...


class Collector(Protocol):
    """Who has metrics: an instrument of ours, or a collector of prometheus_client."""

    def collect(self) -> Iterable[AnyMetric]:
        """The present numbers."""


def render(collectors: Iterable[Collector]) -> bytes:
    """All metrics in Prometheus' text format."""
    metrics = (metric for collector in collectors for metric in collector.collect())
    return "".join(line for metric in metrics for line in _lines(metric)).encode()


def _lines(metric: AnyMetric) -> Iterator[str]:
    suffix, kind = _TYPES.get(metric.type, ("", metric.type))
    yield from _head(metric.name + suffix, metric.documentation, kind)
    apart: dict[str, list[AnySample]] = {}
    for sample in metric.samples:
        end = sample.name.removeprefix(metric.name)
        if end in _APART:
            apart.setdefault(end, []).append(sample)
        elif end != "_created":
            yield _line(sample)
    for end, samples in sorted(apart.items()):
        yield from _head(metric.name + end, metric.documentation, "gauge")
        yield from map(_line, samples)


def _head(name: str, documentation: str, kind: str) -> Iterator[str]:
    text = documentation.replace("\\", r"\\").replace("\n", r"\n")
    yield f"# HELP {name} {text}\n"
    yield f"# TYPE {name} {kind}\n"


def _line(sample: AnySample) -> str:
    labels = ",".join(f'{name}="{_escaped(text)}"' for name, text in sorted(sample.labels.items()))
    braces = f"{{{labels}}}" if labels else ""
    at = "" if sample.timestamp is None else f" {int(float(sample.timestamp) * 1000)}"
    return f"{sample.name}{braces} {number(sample.value)}{at}\n"


def number(value: float) -> str:
    """A number as Go writes it: 0.5, 1.0, 1e+06, +Inf."""
    value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    text = repr(value)
    whole, point, rest = text.partition(".")
    if value <= 0 or not point or len(whole) <= _MOST_DIGITS:
        return text
    return f"{whole[0]}.{whole[1:]}{rest}".rstrip("0.") + f"e+{len(whole) - 1:02d}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
