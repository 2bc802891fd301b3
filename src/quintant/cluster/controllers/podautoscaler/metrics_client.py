"""resourceMetricsClient: what the pods of a selector are, and what they use, read now."""

from __future__ import annotations

from typing import TypeVar

from quintant.api.metrics import PodMetrics
from quintant.cluster.controllers.podautoscaler.metrics import ObservedPods
from quintant.cluster.controllers.podautoscaler.views import AutoscaledPod
from quintant.core import codec
from quintant.core.errors import ApiError, NotFound
from quintant.core.object import Object
from quintant.runtime.cache.client import Client

K = TypeVar("K", bound=Object)
_UNSERVED = "the server could not find the requested resource (get pods.metrics.k8s.io)"


async def observe_pods(
    client: Client, namespace: str, selector: str, replicas: int
) -> ObservedPods:
    """The pods of a selector, and what they use, or why that is not known."""
    pods = await _list(client, AutoscaledPod, namespace, selector)
    unavailable = ""
    usages: tuple[PodMetrics, ...] = ()
    try:
        usages = await _list(client, PodMetrics, namespace, selector)
    except ApiError as error:
        words = _UNSERVED if isinstance(error, NotFound) else error.message
        unavailable = f"unable to fetch metrics from resource metrics API: {words}"
    if not usages and not unavailable:
        unavailable = "no metrics returned from resource metrics API"
    return ObservedPods(replicas, namespace, pods, usages, unavailable)


async def _list(client: Client, kind: type[K], namespace: str, selector: str) -> tuple[K, ...]:
    page = await client.rest.list_page(kind, namespace, {"labelSelector": selector})
    return tuple(codec.decode(kind, item) for item in page.items or ())
