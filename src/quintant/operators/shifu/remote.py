"""What is outside: how much nodes use just now, as the metrics API reports it.

`NodeFiguresSource` is the protocol; `metrics_api` asks `metrics.k8s.io`, with one request for all
nodes. The kubelets themselves are not asked: who may do that may run programs on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from quintant.api.metrics import NodeMetrics
from quintant.runtime.cache.client import Client


class NodeFiguresSource(Protocol):
    """Reports what nodes use."""

    async def __call__(self, client: Client, /) -> Sequence[NodeMetrics]:
        """What every node uses; a QuintantError if it is not known."""


async def metrics_api(client: Client) -> Sequence[NodeMetrics]:
    """What the metrics API says."""
    return await client.list(NodeMetrics, live=True)
