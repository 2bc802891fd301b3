"""persistentVolumeClaimRetentionPolicy: owner references of a StatefulSet's claims.

A claim that shall go with its set belongs to the set, one that shall go with a surplus pod to the
pod, and the garbage collector does the rest. A claim that another controller has, or that belongs
to a namesake from before, is left alone.
"""

from __future__ import annotations

from quintant.api.apps import StatefulSet, StatefulSetPersistentVolumeClaimRetentionPolicy
from quintant.api.core import PersistentVolumeClaim
from quintant.cluster.controllers.pods.views import PodState
from quintant.cluster.controllers.statefulset.members import size, start
from quintant.core.object import Object, OwnerReference, replace
from quintant.core.owner import owned
from quintant.core.resource import resource_of

DELETE = "Delete"


def with_retention_owner(
    claim: PersistentVolumeClaim, sets: StatefulSet, number: int, pod: PodState
) -> PersistentVolumeClaim:
    """The claim with the owners that the policy of its set asks for."""
    if _stale(claim, sets) or stale(claim, pod):
        return claim
    ours = {sets.metadata.uid, pod.metadata.uid}
    held = claim.metadata.owner_references
    others = tuple(each for each in held if each.uid not in ours)
    free = replace(claim, metadata=replace(claim.metadata, owner_references=others))
    if any(each.controller for each in others):
        return free
    owner = _owner(sets, number, pod)
    return owned(free, by=owner) if owner is not None else free


def stale(claim: PersistentVolumeClaim, pod: Object) -> bool:
    """Whether a claim belongs to a namesake of a pod, and goes with it."""
    references = claim.metadata.owner_references
    return any(_names(each, pod) and each.uid != pod.metadata.uid for each in references)


def goes_with_pods(sets: StatefulSet) -> bool:
    """Whether claims go with surplus pods."""
    return policy(sets).when_scaled == DELETE


def policy(sets: StatefulSet) -> StatefulSetPersistentVolumeClaimRetentionPolicy:
    """What is to be deleted, with nothing said where it is to be kept."""
    retention = (
        sets.spec.persistent_volume_claim_retention_policy
        or StatefulSetPersistentVolumeClaimRetentionPolicy()
    )
    return StatefulSetPersistentVolumeClaimRetentionPolicy(
        when_deleted=DELETE if retention.when_deleted == DELETE else "",
        when_scaled=DELETE if retention.when_scaled == DELETE else "",
    )


def _owner(sets: StatefulSet, number: int, pod: PodState) -> Object | None:
    """Whom a claim belongs to: with both policies to the pod only once it is surplus."""
    retention = policy(sets)
    surplus = not start(sets) <= number < start(sets) + size(sets)
    if retention.when_scaled == DELETE and surplus:
        return pod
    return sets if retention.when_deleted == DELETE else None


def _stale(claim: PersistentVolumeClaim, sets: StatefulSet) -> bool:
    references = claim.metadata.owner_references
    return any(_names(each, sets) and each.uid != sets.metadata.uid for each in references)


def _names(reference: OwnerReference, obj: Object) -> bool:
    resource = resource_of(type(obj))
    named = (resource.api_version, resource.kind, obj.metadata.name)
    return (reference.api_version, reference.kind, reference.name) == named
