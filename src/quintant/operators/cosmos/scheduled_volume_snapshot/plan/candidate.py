"""Whose volume is copied, and how a pod is taken away for it and given back. Pure.

A pod is away because of an entry in the status of its CosmosFullNode, whose own controller deletes
and makes the pod.
"""

from __future__ import annotations

from quintant.core.object import replace
from quintant.operators.cosmos.api import HOME_VOLUME
from quintant.operators.cosmos.api.scheduled_volume_snapshot import (
    ScheduledVolumeSnapshot,
    SnapshotTarget,
)
from quintant.operators.cosmos.api.status import FullNodeStatus, SnapshotCandidate
from quintant.operators.cosmos.builders.instances import to_name
from quintant.operators.cosmos.observed.full_node import ChainNode
from quintant.operators.cosmos.plan.rollout import disruption_budget
from quintant.operators.cosmos.scheduled_volume_snapshot.observed import SnapshotView

_MIN_AVAILABLE = 2


def candidate_of(view: SnapshotView) -> ChainNode | str:
    """The node whose volume is copied next; or why there is none."""
    if view.observed is None:
        return f"there is no CosmosFullNode {view.schedule.spec.full_node_ref.name}"
    spec, nodes = view.schedule.spec, view.observed.nodes
    wanted = spec.full_node_ref.ordinal
    chosen = [each for each in nodes if wanted is None or each.instance.ordinal == wanted]
    whole = [each for each in chosen if each.has_blocks and each.pod and each.pod.claim]
    if not spec.delete_pod:
        return whole[0] if whole else _not_in_sync(wanted)
    settled = [each for each in nodes if each.settled(view.now)]
    least = spec.min_available or _MIN_AVAILABLE
    if len(settled) < least:
        return f"{len(settled)} nodes are in sync, and {least} have to be"
    if view.observed.away:
        return f"{', '.join(sorted(view.observed.away))} is away for another copy"
    if disruption_budget(view.observed) < 1:
        return "no further node may be taken away now"
    fit = [each for each in whole if each in settled]
    return fit[0] if fit else _not_in_sync(wanted)


def _not_in_sync(wanted: int | None) -> str:
    """A volume that is behind is no copy to come back to."""
    none = "no node with a volume is in sync"
    return none if wanted is None else f"instance {wanted} is not in sync"


def is_own(view: SnapshotView, target: SnapshotTarget) -> bool:
    """Whether a target is a volume of the CosmosFullNode, and no other's that a status names."""
    if view.observed is None:  # it was deleted meanwhile: the copy is what remains of it
        return _is_named_after(view.schedule.spec.full_node_ref.name, target)
    given = view.observed.full_node.spec.pod_template.volumes
    named = [each.value for each in given if each.value.get("name") == HOME_VOLUME]
    other = {(each.get("persistentVolumeClaim") or {}).get("claimName") for each in named}
    return any(
        node.name == target.pod_name and target.pvc_name in (node.instance.claim, *other)
        for node in view.observed.nodes
    )


def _is_named_after(full_node: str, target: SnapshotTarget) -> bool:
    """Whether pod and claim have the names that those of a CosmosFullNode have."""
    pod, ordinal = target.pod_name, target.pod_name.rpartition("-")[2]
    named = ordinal.isdecimal() and pod == to_name(f"{to_name(full_node)}-{ordinal}")
    return named and target.pvc_name == to_name(f"pvc-{pod}")


def is_candidate(view: SnapshotView, pod: str) -> bool:
    """Whether this pod may be taken away now."""
    node = candidate_of(view)
    return not isinstance(node, str) and node.name == pod and node.pod is not None


def taken_away(
    status: FullNodeStatus | None, schedule: ScheduledVolumeSnapshot, pod: str
) -> FullNodeStatus:
    """The status of a CosmosFullNode whose pod a schedule takes away."""
    known = status or FullNodeStatus()
    entry = {schedule.candidate_key: SnapshotCandidate(pod_candidate=pod)}
    held = {**known.scheduled_snapshot_status, **entry}
    return replace(known, scheduled_snapshot_status=held)


def given_back(status: FullNodeStatus | None, schedule: ScheduledVolumeSnapshot) -> FullNodeStatus:
    """The status of a CosmosFullNode whose pod may come back."""
    known, key = status or FullNodeStatus(), schedule.candidate_key
    kept = {name: each for name, each in known.scheduled_snapshot_status.items() if name != key}
    return replace(known, scheduled_snapshot_status=kept)
