"""What the roles of the Cosmos operator grant and nothing here takes, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

from testbeds.rights import BLOCKS, WATCHED, Right

OURS, SNAPSHOTS = "cosmos.strange.love", "snapshot.storage.k8s.io"
_CONTROLS = "comes with every controlled kind, for finalizers: this one has none"
UNUSED: Mapping[Right, str] = {
    Right(OURS, "cosmosfullnodes/finalizers", "update"): BLOCKS,
    Right(OURS, "scheduledvolumesnapshots/finalizers", "update"): BLOCKS,
    Right(OURS, "statefuljobs/finalizers", "update"): BLOCKS,
    Right(OURS, "cosmosfullnodes", "patch"): _CONTROLS,
    Right(OURS, "statefuljobs", "patch"): _CONTROLS,
    Right(OURS, "statefuljobs", "get"): WATCHED,
    Right(SNAPSHOTS, "volumesnapshots", "get"): WATCHED,
    Right("batch", "jobs", "get"): WATCHED,
}
