"""What wakes the controllers of a CosmosFullNode, and whose child an object is. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from quintant.api.volume import PersistentVolumeClaim
from quintant.core.object import Object, Request
from quintant.core.owner import controller_of
from quintant.core.resource import resource_of
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.api.status import FullNodeStatus
from quintant.operators.cosmos.api.views import NodePod
from quintant.runtime.source import predicates

OWNER = "cosmos/owner"
"""The index of children by the uid of their CosmosFullNode."""
FULL_NODE_INDEX = "cosmos/full-node"
"""The index of ScheduledVolumeSnapshots by the CosmosFullNode that they copy."""
_FULL_NODE = resource_of(CosmosFullNode)


def owner_of(child: Object) -> Sequence[Request]:
    """The CosmosFullNode of a child."""
    held = controller_of(child)
    if (
        held is None
        or held.kind != _FULL_NODE.kind
        or not held.api_version.startswith(_FULL_NODE.group)
    ):
        return ()
    return (Request(held.name, child.metadata.namespace),)


def owner_uid(child: Object) -> Sequence[str]:
    """Where the index files a child."""
    held = controller_of(child)
    return (held.uid,) if held is not None and held.kind == _FULL_NODE.kind else ()


def full_node_of(schedule: ScheduledVolumeSnapshot) -> Sequence[Request]:
    """The CosmosFullNode whose volumes are copied."""
    return (Request(schedule.spec.full_node_ref.name, schedule.metadata.namespace),)


def full_node_key(schedule: ScheduledVolumeSnapshot) -> Sequence[str]:
    """Where the index files a ScheduledVolumeSnapshot."""
    return tuple(map(str, full_node_of(schedule)))


def has_address(pod: NodePod) -> bool:
    """Whether a pod can be asked; a thousand that are made wake nothing."""
    return bool(pod.status.pod_ip)


def address_aspects(pod: NodePod) -> object:
    """What of a pod is needed to ask its node, and when to do so at once."""
    return pod.status.pod_ip, pod.metadata.uid, pod.ready


def pod_aspects(pod: NodePod) -> object:
    """What of a pod is acted upon or reported."""
    status = pod.status
    waits = tuple(
        (each.name, each.state.waiting, each.restart_count)
        for each in (*status.init_container_statuses, *status.container_statuses)
    )
    return pod.ready, pod.deleting, status.pod_ip, status.phase, waits, pod.metadata.labels


def claim_aspects(claim: PersistentVolumeClaim) -> object:
    """What of a claim is acted upon."""
    status = claim.status
    return status.phase, status.capacity, status.conditions, claim.deleting, claim.spec


def written_by_others(full_node: CosmosFullNode) -> object:
    """What of its status others write, and is acted upon."""
    status = full_node.status or FullNodeStatus()
    return (
        status.scheduled_snapshot_status,
        status.self_healing.pvc_auto_scaler,
        status.upgrade_info,
        status.planned_upgrade,
        status.height,
    )


def status_heights(full_node: CosmosFullNode) -> object:
    """What its status says of heights."""
    return full_node.status.height if full_node.status else {}


CHANGED = (
    predicates.generation
    | predicates.labels
    | predicates.changed(written_by_others)
    | predicates.changed(lambda full_node: full_node.deleting)
)
HEIGHTS_CHANGED = predicates.generation | predicates.changed(status_heights)
