"""Keys of a cluster, and the queues that take them."""

from __future__ import annotations

import pytest

from quintant.core.errors import ConfigError
from quintant.core.object import Request
from quintant.runtime.workqueue.key_queue import ClusterQueue
from quintant.runtime.workqueue.workqueue import Workqueue


async def test_a_key_without_a_cluster_becomes_one_of_the_queues_cluster() -> None:
    queue: Workqueue[Request] = Workqueue()
    west = ClusterQueue(queue, "west")
    key = Request("a", "default")
    west.add(key)
    west.add(key.in_cluster("west"), priority=3)
    assert queue.keys() == [key.in_cluster("west")]
    assert queue.depths() == {3: 1}


async def test_a_key_of_another_cluster_is_refused() -> None:
    west = ClusterQueue(Workqueue(), "west")
    with pytest.raises(ConfigError, match="cannot wake east:default/a"):
        west.add(Request("a", "default").in_cluster("east"))
