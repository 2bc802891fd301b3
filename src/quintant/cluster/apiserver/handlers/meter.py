"""What pods use, for `kubectl top`: processor and memory by container, now.

The node agent measures the processes it runs (quintant.cluster.kubelet.process.proc_stats); whoever
serves metrics.k8s.io only reads. Simulated pods have no figures here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from quintant.core.object import Request


class Usage(Struct, frozen=True):
    """Processor and memory of one container, or of a whole node."""

    cores: float
    """Processors kept busy on average over the window: 0.25 is 250m."""
    memory: int
    """Bytes that are resident now, of all processes together."""


class PodUsage(Struct, frozen=True):
    """What the containers of a pod use."""

    containers: Mapping[str, Usage]
    at: datetime
    """When it was measured."""
    window: float
    """Seconds that `cores` is an average of."""


class Meter(Protocol):
    """Who knows what pods use."""

    def pods(self) -> Mapping[Request, PodUsage]:
        """Every pod that runs as processes, by name and namespace."""

    def node(self) -> PodUsage | None:
        """The whole machine under the name ""; None before the first measurement."""
