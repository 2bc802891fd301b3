"""Series that are computed when they are scraped: nothing wakes up to keep them fresh.

Queues and informers are asked for their state on every scrape, on their own event loop. That gives
the numbers of a sampling loop without its wake-ups, and none is older than the scrape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from typing import Protocol

from quintant.core.clock import monotonic
from quintant.core.resource import Resource
from quintant.metrics import Gauge, Metric


class QueueView(Protocol):
    """What a queue knows of itself."""

    def depths(self) -> Mapping[int, int]:
        """How many keys are ready, by priority."""

    def unfinished_seconds(self) -> float:
        """The time all running keys have been worked on, added up."""

    def longest_running_seconds(self) -> float:
        """The time the oldest running key has been worked on."""


class WatchView(Protocol):
    """What an informer knows of itself."""

    @property
    def resource(self) -> Resource:
        """The kind it follows."""

    @property
    def store(self) -> Sized:
        """The objects it holds."""

    @property
    def undecodable(self) -> Sized:
        """The objects that do not fit their type."""

    @property
    def alive_at(self) -> float:
        """Loop time at which the server last sent anything; 0 before the first time."""


class StalenessView(Protocol):
    """What a controller knows of its caches."""

    @property
    def kinds(self) -> Mapping[str, float]:
        """Seconds that each kind is behind the server at most."""


class NamespacesView(Protocol):
    """Who knows which namespaces are selected by label."""

    @property
    def ready(self) -> Sized:
        """Those that every cache has read."""

    @property
    def waiting(self) -> int:
        """How many are not read yet."""


class NamespaceCollector:
    """How many namespaces have the labels that a manager selects."""

    def __init__(self, namespaces: NamespacesView) -> None:
        self._namespaces = namespaces

    def collect(self) -> Iterator[Metric]:
        text = "Namespaces that are selected by label."
        gauge = Gauge("quintant_selected_namespaces", text, ("state",))
        gauge.labels("ready").set(len(self._namespaces.ready))
        gauge.labels("waiting").set(self._namespaces.waiting)
        yield from gauge.collect()


class HotLoopView(Protocol):
    """What a controller knows of keys without rest."""

    def hot(self, now: float) -> Sized:
        """The keys that are reconciled again and again."""


class HotLoopCollector:
    """How many keys of each controller are reconciled without rest."""

    def __init__(self) -> None:
        self._controllers: dict[str, HotLoopView] = {}

    def add(self, name: str, hot_loops: HotLoopView) -> None:
        self._controllers[name] = hot_loops

    def collect(self) -> Iterator[Metric]:
        hot = Gauge("quintant_hot_loops", "Keys reconciled without rest.", ("controller",))
        for name, hot_loops in self._controllers.items():
            hot.labels(name).set(len(hot_loops.hot(monotonic())))
        yield from hot.collect()


class BlockedCleanupCollector:
    """How many objects of each controller are to go, and cannot be cleaned up."""

    def __init__(self) -> None:
        self._controllers: dict[str, Sized] = {}

    def add(self, name: str, blocked: Sized) -> None:
        self._controllers[name] = blocked

    def collect(self) -> Iterator[Metric]:
        text = "Deleted objects that are held, and cannot be cleaned up."
        gauge = Gauge("quintant_blocked_cleanups", text, ("controller",))
        for name, blocked in self._controllers.items():
            gauge.labels(name).set(len(blocked))
        yield from gauge.collect()


class QueueCollector:
    """The gauges of every queue."""

    def __init__(self) -> None:
        self._queues: dict[str, QueueView] = {}

    def add(self, name: str, queue: QueueView) -> None:
        self._queues[name] = queue

    def collect(self) -> Iterator[Metric]:
        labels = "name", "controller"
        depth = Gauge("workqueue_depth", "Keys that wait for a worker.", (*labels, "priority"))
        unfinished = Gauge(
            "workqueue_unfinished_work_seconds", "Time in work not yet done, added up.", labels
        )
        longest = Gauge(
            "workqueue_longest_running_processor_seconds", "Time of the longest work.", labels
        )
        for name, queue in self._queues.items():
            # An empty queue still has a depth: 0 at the default priority.
            for priority, keys in {0: 0, **queue.depths()}.items():
                depth.labels(name, name, str(priority)).set(keys)
            unfinished.labels(name, name).set(queue.unfinished_seconds())
            longest.labels(name, name).set(queue.longest_running_seconds())
        for gauge in (depth, unfinished, longest):
            yield from gauge.collect()


class StalenessCollector:
    """How far the caches of each controller are behind, by kind."""

    def __init__(self) -> None:
        self._controllers: dict[str, StalenessView] = {}

    def add(self, name: str, views: StalenessView) -> None:
        self._controllers[name] = views

    def collect(self) -> Iterator[Metric]:
        text = "Seconds that the cache is behind the API server, at most."
        gauge = Gauge("quintant_cache_staleness_seconds", text, ("controller", "kind"))
        for name, views in self._controllers.items():
            for kind, behind in views.kinds.items():
                gauge.labels(name, kind).set(behind)
        yield from gauge.collect()


class WatchCollector:
    """The gauges of every watched kind; several informers of one kind count as one."""

    def __init__(self) -> None:
        self._informers: dict[str, list[WatchView]] = {}

    def add(self, informer: WatchView) -> None:
        self._informers.setdefault(informer.resource.full_name, []).append(informer)

    def collect(self) -> Iterator[Metric]:
        objects = Gauge("quintant_cache_objects", "Objects in the cache.", ("kind",))
        caches = Gauge("quintant_caches", "Caches that hold the kind, each a watch.", ("kind",))
        age = Gauge("quintant_watch_age_seconds", "Time since the server last spoke.", ("kind",))
        undecodable = Gauge(
            "quintant_undecodable_objects", "Objects that do not fit their type.", ("kind",)
        )
        for kind, informers in self._informers.items():
            objects.labels(kind).set(sum(len(each.store) for each in informers))
            caches.labels(kind).set(len(informers))
            undecodable.labels(kind).set(sum(len(each.undecodable) for each in informers))
            if heard := min(each.alive_at for each in informers):
                age.labels(kind).set(monotonic() - heard)
        for gauge in (objects, caches, age, undecodable):
            yield from gauge.collect()
