"""A pod's claims: whether they hold it back, and from which nodes their volumes can be reached.

A claim whose class waits for its first consumer does not hold a pod back: the node is chosen, named
in an annotation of the claim, and the pod follows once the volume is there.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from quintant.api.core import NodeTerms
from quintant.api.storage import StorageClass
from quintant.cluster.common.views import ClaimView, PodView, ReachView
from quintant.cluster.scheduler.pod_info import ANYWHERE, Reach
from quintant.core.object import Request

SELECTED_NODE = "volume.kubernetes.io/selected-node"
UNBOUND = "pod has unbound immediate PersistentVolumeClaims"
_WAITS = "WaitForFirstConsumer"
_BOUND = "Bound"


class Storage(Struct, frozen=True):
    """Where claims, volumes and classes are looked up."""

    claim: Callable[[Request], ClaimView | None]
    volume: Callable[[Request], ReachView | None]
    storage_class: Callable[[Request], StorageClass | None]


class Claims(Struct, frozen=True):
    """What a pod's claims come to."""

    trouble: str = ""
    """What holds the pod back, on any node."""
    reach: Reach = ANYWHERE
    unbound: tuple[ClaimView, ...] = ()
    """Claims that wait for a node to be chosen, or for their volume on it."""


def inspect(pod: PodView, storage: Storage) -> Claims:
    """Look at the claims of a pod."""
    terms: list[NodeTerms] = []
    unbound: list[ClaimView] = []
    for name, own in _names(pod):
        claim = storage.claim(Request(name, pod.metadata.namespace))
        if claim is None:
            return Claims(_missing(name, own=own))
        if claim.deleting:
            return Claims(f'persistentvolumeclaim "{name}" is being deleted')
        if claim.spec.volume_name and claim.status.phase == _BOUND:
            volume = storage.volume(Request(claim.spec.volume_name))
            if volume is None:
                return Claims(f'persistentvolume "{claim.spec.volume_name}" not found')
            terms += _terms(volume)
        elif waits(claim, storage):
            unbound.append(claim)
        else:
            return Claims(UNBOUND)
    return Claims(reach=Reach(tuple(terms)), unbound=tuple(unbound))


def waits(claim: ClaimView, storage: Storage) -> bool:
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


def _terms(volume: ReachView) -> list[NodeTerms]:
    reach = volume.spec.node_affinity
    return [reach.required] if reach is not None and reach.required is not None else []
