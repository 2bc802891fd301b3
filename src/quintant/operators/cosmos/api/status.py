"""What is told of a CosmosFullNode; several controllers write it, each its own fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from quintant.api.meta import Condition
from quintant.api.quantity import Quantity
from quintant.core.object import Model
from quintant.core.schema.markers import date_time, list_map
from quintant.operators.cosmos.api.chain import Height

FullNodePhase = Literal[
    "Complete", "Error", "WaitingForP2PServices", "Progressing", "TransientError"
]
Moment = Annotated[str, date_time()]


class SnapshotCandidate(Model):
    """A pod that is away while its volume is copied."""

    pod_candidate: str
    """The pod's name."""


class PvcAutoScaling(Model):
    """The size that was asked for because a volume filled up."""

    requested_size: Quantity
    """The size."""
    requested_at: Moment
    """When it was asked for."""


class SelfHealingStatus(Model):
    """What was mended."""

    pvc_auto_scaler: Mapping[str, PvcAutoScaling] = {}
    """By the name of the claim."""
    restarted_at: Mapping[str, Moment] = {}
    """When each pod was last restarted to mend it."""
    rebuilt_at: Mapping[str, Moment] = {}
    """When each instance last began anew, from a copy."""


class SyncInfo(Model):
    """What a node said when it was last asked."""

    timestamp: Moment
    """When it said so."""
    height: Height | None = None
    """Its latest block."""
    in_sync: bool | None = None
    """Whether it says that it has caught up."""
    error: str | None = None
    """Why it could not be asked."""


class UpgradeInfo(Model):
    """The upgrade that a node halted for, as its upgrade-info.json says."""

    height: Height
    """The height at which the upgrade happens."""
    name: str = ""
    """What the upgrade is called."""


class FullNodeStatus(Model):
    """What became of it."""

    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    phase: FullNodePhase | None = None
    """Complete, Progressing, WaitingForP2PServices, TransientError or Error."""
    status: str | None = None
    """What is wrong, in words."""
    scheduled_snapshot_status: Mapping[str, SnapshotCandidate] = {}
    """By ScheduledVolumeSnapshot, which writes it."""
    self_healing: SelfHealingStatus = SelfHealingStatus()
    peers: tuple[str, ...] = ()
    """How the nodes are reached from outside: id@host:port."""
    sync: Mapping[str, SyncInfo] = {}
    """By pod."""
    height: Mapping[str, Height] = {}
    """By pod: the block that is next, which is the latest and one."""
    upgrade_info: Mapping[str, UpgradeInfo] = {}
    """By pod; the sidecar of the pod writes it."""
    planned_upgrade: UpgradeInfo | None = None
    """What the chain announces, if its user asks to know."""
    replicas: int | None = None
    """Pods that there are."""
    ready_replicas: int | None = None
    """Nodes that are in sync, and ready where they have a probe."""
    in_sync_replicas: int | None = msgspec.field(default=None, name="inSyncReplicas")
    """Nodes that say they are in sync."""
    selector: str = ""
    """What the pods are selected by, for autoscalers."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""
