"""Where a key goes when its controller works in several clusters: to the queue of its cluster.

Sources (followers, long calls, channels) run once, at home, and wake keys of every cluster. A key
of a cluster that has left is dropped: nothing is known of it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from quintant.core.object import Request
from quintant.runtime.controller.controller import Controller
from quintant.runtime.workqueue.key_queue import KeyQueue

Controllers = Mapping[str, Controller[Any]]
"""Those of one cluster, by name."""


class ClusterRoutes:
    """A KeyRoutes: finds the queue of a controller in the cluster of a key."""

    def __init__(
        self, find: Callable[[str], Controllers | None], names: Callable[[], Iterable[str]]
    ) -> None:
        """`find` knows the controllers of a cluster, and `names` the clusters."""
        self._find, self._names = find, names

    def queue(self, controller: str, home: KeyQueue) -> KeyQueue:
        """One that takes keys of all clusters; those at home go to `home`."""
        return _RoutedQueue(controller, home, self._find)

    def known_keys(self, controller: str) -> Iterator[Request]:
        """The keys of a controller in all clusters but home."""
        for name in self._names():
            found = (self._find(name) or {}).get(controller)
            if found is not None:
                yield from found.known_keys()


class _RoutedQueue:
    def __init__(
        self, controller: str, home: KeyQueue, find: Callable[[str], Controllers | None]
    ) -> None:
        self._controller, self._home, self._find = controller, home, find

    def add(
        self, key: Request, *, after: float = 0.0, priority: int = 0, ranked: bool = False
    ) -> None:
        """Add a key where it belongs."""
        queue: KeyQueue | None = self._home
        if key.cluster:
            found = (self._find(key.cluster) or {}).get(self._controller)
            queue = found.queue if found is not None else None
        if queue is not None:
            queue.add(key, after=after, priority=priority, ranked=ranked)
