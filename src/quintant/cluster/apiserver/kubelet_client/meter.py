"""ContainerMetrics: processor and memory by container, now, for metrics.k8s.io.

Whoever runs pods registers a `Meter` with the API server, as a kubelet offers its figures to a
metrics server. Whoever serves metrics.k8s.io (quintant.cluster.apiserver.handlers.metrics) reads
what is stored, and asks the meters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct, field

from quintant.api.quantity import Quantity
from quintant.core.object import Request


class ResourceUsage(Struct, frozen=True):
    """Processor and memory of one container, or of a whole node."""

    cores: float
    """Processors kept busy on average over the window: 0.25 is 250m."""
    memory: int
    """Bytes that are resident now, of all processes together."""


class PodUsage(Struct, frozen=True):
    """What the containers of a pod use."""

    containers: Mapping[str, ResourceUsage]
    at: datetime
    """When it was measured."""
    window: float
    """Seconds that `cores` is an average of."""


class NodeUsage(Struct, frozen=True):
    """What a whole node uses."""

    usage: ResourceUsage
    at: datetime
    window: float


class MeasuredMeta(Struct, rename="camel"):
    """What figures are told with."""

    name: str
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class _Requests(Struct):
    requests: dict[str, Quantity] | None = None


class MeasuredContainer(Struct):
    """A container that runs, and what it asks for."""

    name: str
    resources: _Requests = field(default_factory=_Requests)


class _PodSpec(Struct, rename="camel"):
    containers: tuple[MeasuredContainer, ...] = ()
    node_name: str = ""


class MeasuredPod(Struct):
    """A pod that runs, as far as it matters for its figures."""

    metadata: MeasuredMeta
    spec: _PodSpec = field(default_factory=_PodSpec)

    @property
    def key(self) -> Request:
        return Request(self.metadata.name, self.metadata.namespace)


class _NodeStatus(Struct):
    capacity: dict[str, Quantity] | None = None


class MeasuredNode(Struct):
    """A node, as far as it matters for its figures."""

    metadata: MeasuredMeta
    status: _NodeStatus = field(default_factory=_NodeStatus)


class Meter(Protocol):
    """Who knows what some of the pods and nodes use. What it does not know it leaves out."""

    def pods(self, running: Sequence[MeasuredPod]) -> Mapping[Request, PodUsage]:
        """Its pods among those that run, by name and namespace."""

    def nodes(
        self, nodes: Sequence[MeasuredNode], running: Sequence[MeasuredPod]
    ) -> Mapping[str, NodeUsage]:
        """Its nodes, by name, with the pods that run on them."""
