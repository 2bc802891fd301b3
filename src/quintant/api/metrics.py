"""What pods and nodes use just now, as the metrics server reports it. Read only."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.quantity import Quantity
from quintant.core.object import Model, Object
from quintant.core.resource import resource

GROUP = "metrics.k8s.io"


@resource(group=GROUP, version="v1beta1", plural="nodes", namespaced=False)
class NodeMetrics(Object):
    """What a node uses, averaged over `window`."""

    timestamp: str | None = None
    window: str = ""
    usage: Mapping[str, Quantity] = {}


class ContainerMetrics(Model):
    """What a container uses."""

    name: str
    usage: Mapping[str, Quantity] = {}


@resource(group=GROUP, version="v1beta1", plural="pods")
class PodMetrics(Object):
    """What a pod uses, averaged over `window`."""

    timestamp: str | None = None
    window: str = ""
    containers: tuple[ContainerMetrics, ...] = ()
