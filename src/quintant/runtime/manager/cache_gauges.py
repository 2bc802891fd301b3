"""Gauges that are computed from the caches when scraped: objects by phase, by class, by node.

They cannot drift from what is there, no task wakes up to keep them fresh, and the series of an
object goes with it. What they count is read where it is, without a request. Bound where the lease
is held, they are served by one replica: a sum over all of them is the truth.

    gauges = CacheGauges(CacheGauge("things_phase", "Things by phase.", "phase", by_phase))
    manager.add_collectors(gauges)
    manager.add(gauges.bind, leader=True)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from quintant.core.errors import NotHeld
from quintant.core.object import K
from quintant.metrics import Gauge, Metric
from quintant.runtime.cache.client import Client
from quintant.runtime.observe.logs import get_logger

log: Final = get_logger()


class Cached:
    """The objects that the caches hold; nothing before they are bound."""

    def __init__(self, client: Client | None = None) -> None:
        self._client = client

    @property
    def bound(self) -> bool:
        """Whether there are caches to ask."""
        return self._client is not None

    def all(self, kind: type[K]) -> list[K]:
        """Every object of a kind that a controller watches."""
        if self._client is None or self._client.caches is None:
            return []
        informers = self._client.caches.informers_for(kind)
        for informer in informers:
            if informer.foreign:
                raise NotHeld(informer.resource.kind)
        return [obj for informer in informers for obj in informer.store]


Count: TypeAlias = Callable[[Cached], Mapping[str, float]]


class CacheGauge(Struct, frozen=True):
    """A gauge with one label; `count` gives the number for each of its values."""

    name: str
    documentation: str
    label: str
    count: Count


class CacheGauges:
    """Gauges of one operator, to be served together."""

    def __init__(self, *gauges: CacheGauge) -> None:
        self._gauges = gauges
        self._cached = Cached()

    async def bind(self, client: Client) -> None:
        """Know whose caches to ask; a runnable of the manager."""
        self._cached = Cached(client)

    def describe(self) -> Iterator[Metric]:
        """The names that are taken."""
        for each in self._gauges:
            yield from Gauge(each.name, each.documentation, [each.label]).describe()

    def collect(self) -> Iterator[Metric]:
        """The present numbers; none before they are bound."""
        for each in self._gauges:
            gauge = Gauge(each.name, each.documentation, [each.label])
            for value, number in self._counted(each).items():
                gauge.labels(value).set(number)
            yield from gauge.collect()

    def _counted(self, gauge: CacheGauge) -> Mapping[str, float]:
        try:
            return gauge.count(self._cached) if self._cached.bound else {}
        except NotHeld as error:  # a part of the truth would look like all of it
            log.warning("cannot count", gauge=gauge.name, why=str(error))
            return {}
