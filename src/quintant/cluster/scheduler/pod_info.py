"""PodInfo: a pod that has no node: everything the choice of one depends on, read once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from quintant.api.core import NodeSelector
from quintant.cluster.common.views import PodView
from quintant.cluster.scheduler.resources import ResourceRequest, resource_request
from quintant.core import codec

Locate = Callable[[str, Sequence[str]], object | None]
"""The program that stands in for an image and a command on a real node, if there is one."""


class PodInfo(Struct, frozen=True):
    """A pod to be placed."""

    pod: PodView
    request: ResourceRequest
    filter_key: bytes
    """The same for pods that any node, empty, would treat alike."""
    runs: bool = False
    """Whether a real node can run it, while a simulated one would only pretend to."""

    @property
    def order(self) -> tuple[int, str, str]:
        """Who comes first: the more important, then the older."""
        meta = self.pod.metadata
        return -(self.pod.spec.priority or 0), meta.creation_timestamp or "", meta.name


class VolumeTopology(Struct, frozen=True):
    """From where the volumes of a pod can be reached."""

    terms: tuple[NodeSelector, ...] = ()


ANYWHERE = VolumeTopology()


def read_pod_info(pod: PodView, locate: Locate) -> PodInfo:
    """Read a pod."""
    spec = pod.spec
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    containers = (*spec.init_containers, *spec.containers)
    real = all(locate(each.image, each.command) for each in containers)
    shape = codec.encode((spec.node_selector, affinity, spec.tolerations, real))
    return PodInfo(pod, resource_request(pod), shape, real)
