"""What the roles of the Cosmos operator grant and nothing here takes, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

from testbeds.rights import Right

OURS, SNAPSHOTS = "cosmos.strange.love", "snapshot.storage.k8s.io"
_BLOCKS = (
    "a cluster may ask for it before it takes an owner reference that blocks deletion "
    "(OwnerReferencesPermissionEnforcement); no request names it"
)
_CONTROLS = "comes with every controlled kind, for finalizers: this one has none"
_WATCHED = "comes with every watched kind, for reads past the cache: this one is read from it alone"
UNUSED: Mapping[Right, str] = {
    Right(OURS, "cosmosfullnodes/finalizers", "update"): _BLOCKS,
    Right(OURS, "scheduledvolumesnapshots/finalizers", "update"): _BLOCKS,
    Right(OURS, "statefuljobs/finalizers", "update"): _BLOCKS,
    Right(OURS, "cosmosfullnodes", "patch"): _CONTROLS,
    Right(OURS, "statefuljobs", "patch"): _CONTROLS,
    Right(OURS, "statefuljobs", "get"): _WATCHED,
    Right(SNAPSHOTS, "volumesnapshots", "get"): _WATCHED,
    Right("batch", "jobs", "get"): _WATCHED,
}
