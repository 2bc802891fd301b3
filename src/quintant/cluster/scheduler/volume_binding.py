"""SchedulerVolumeBinder: a pod's claims: whether they are ready, and the nodes they reach.

A claim whose class waits for its first consumer does not hold a pod back: the node is chosen, named
in an annotation of the claim, and the pod follows once the volume is there.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from quintant.api.core import NodeSelector
from quintant.api.storage import StorageClass
from quintant.cluster.common.views import ClaimView, PersistentVolumeView, PodView
from quintant.cluster.scheduler.pod_info import ANYWHERE, VolumeTopology
from quintant.core.object import Request

SELECTED_NODE = "volume.kubernetes.io/selected-node"
UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
_WAITS = "WaitForFirstConsumer"
_BOUND = "Bound"


class StorageLister(Struct, frozen=True):
    """Where claims, volumes and classes are looked up."""

    claim: Callable[[Request], ClaimView | None]
    volume: Callable[[Request], PersistentVolumeView | None]
    storage_class: Callable[[Request], StorageClass | None]


class PodVolumeClaims(Struct, frozen=True):
    """What a pod's claims come to."""

    reason: str = ""
    """What holds the pod back, on any node."""
    topology: VolumeTopology = ANYWHERE
    unbound: tuple[ClaimView, ...] = ()
    """Claims that wait for a node to be chosen, or for their volume on it."""


def find_pod_claims(pod: PodView, storage: StorageLister) -> PodVolumeClaims:
    """Look at the claims of a pod."""
    terms: list[NodeSelector] = []
    unbound: list[ClaimView] = []
    for name, own in _names(pod):
        claim = storage.claim(Request(name, pod.metadata.namespace))
        if claim is None:
            return PodVolumeClaims(_missing(name, own=own))
        if claim.deleting:
            return PodVolumeClaims(f'persistentvolumeclaim "{name}" is being deleted')
        if claim.spec.volume_name and claim.status.phase == _BOUND:
            volume = storage.volume(Request(claim.spec.volume_name))
            if volume is None:
                return PodVolumeClaims(f'persistentvolume "{claim.spec.volume_name}" not found')
            terms += _terms(volume)
        elif waits_for_consumer(claim, storage):
            unbound.append(claim)
        else:
            return PodVolumeClaims(UNBOUND)
    return PodVolumeClaims(topology=VolumeTopology(tuple(terms)), unbound=tuple(unbound))


def waits_for_consumer(claim: ClaimView, storage: StorageLister) -> bool:
    """Whether a claim gets its volume only when a pod that uses it has a node."""
    name = claim.spec.storage_class_name
    found = storage.storage_class(Request(name)) if name else None
    return found is not None and found.volume_binding_mode == _WAITS


def _names(pod: PodView) -> list[tuple[str, bool]]:
    """The claims a pod names, and whether each is made for it alone."""
    found = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            found.append((volume.persistent_volume_claim.claim_name, False))
        elif volume.ephemeral is not None:
            found.append((f"{pod.metadata.name}-{volume.name}", True))
    return found


def _missing(name: str, *, own: bool) -> str:
    missing = f'persistentvolumeclaim "{name}"'
    if own:
        return f"waiting for ephemeral volume controller to create the {missing}"
    return f"{missing} not found"


def _terms(volume: PersistentVolumeView) -> list[NodeSelector]:
    volume_topology = volume.spec.node_affinity
    return (
        [volume_topology.required]
        if volume_topology is not None and volume_topology.required is not None
        else []
    )
