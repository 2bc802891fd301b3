"""Who takes keys: a work queue, or what stands before one because keys have a cluster.

Caches and objects of a cluster do not know what it is called; keys do. `ClusterQueue` stands where
the first become the second, so that whatever watches a cluster adds keys of that cluster only.
"""

from __future__ import annotations

from typing import Protocol

from quintant.core.errors import ConfigError
from quintant.core.object import Request


class KeyQueue(Protocol):
    """Where keys are added to be worked on."""

    def add(
        self, key: Request, *, after: float = 0.0, priority: int = 0, ranked: bool = False
    ) -> None:
        """Have `key` worked on `after` seconds from now."""


class ClusterQueue:
    """The queue of a controller in another cluster: it takes keys of that cluster."""

    def __init__(self, queue: KeyQueue, cluster: str) -> None:
        self._queue, self._cluster = queue, cluster

    def add(
        self, key: Request, *, after: float = 0.0, priority: int = 0, ranked: bool = False
    ) -> None:
        """Add a key that names no cluster, or this one; ConfigError for another's."""
        if key.cluster not in ("", self._cluster):
            raise ConfigError(
                f"a watch in cluster {self._cluster} cannot wake {key}",
                because="what is mapped there is a key of the same cluster",
                hint="give the other controller a Channel, and add its key to that",
            )
        located = key if key.cluster else key.in_cluster(self._cluster)
        self._queue.add(located, after=after, priority=priority, ranked=ranked)
