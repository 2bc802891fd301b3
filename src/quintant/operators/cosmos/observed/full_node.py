"""Everything that is known of one CosmosFullNode: the input of every decision. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from quintant.api.core import Service
from quintant.api.meta import condition_of
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.clock import parse_timestamp
from quintant.core.errors import Cause
from quintant.operators.cosmos.api import BELONGS_TO_LABEL, NODE_CONTAINER
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.status import FullNodeStatus
from quintant.operators.cosmos.api.views import NodeConfig, NodePod
from quintant.operators.cosmos.builders.instances import Instance, instances, override_of
from quintant.operators.cosmos.builders.versions import (
    NodeProgress,
    is_halted,
    uncovered_height,
    version_height,
)
from quintant.operators.cosmos.observed.comet import CometItem, SyncState, state_of
from quintant.operators.cosmos.observed.pre_upgrade import PreUpgrade, pre_upgrade
from quintant.runtime.apply import ordinal

SETTLED = timedelta(seconds=5)
"""A pod that has just become ready may not stay so: it is no candidate for anything yet."""
JUST_NOW = timedelta(seconds=1)
"""Within this nothing changes that is decided by time: that is counted in seconds."""


@dataclass(frozen=True, slots=True)
class ChainNode:
    """One instance: its pod, if there is one, and what its node said."""

    instance: Instance
    disabled: bool
    away: bool
    """Whether its pod is taken away for a snapshot."""
    pod: NodePod | None
    item: CometItem | None
    progress: NodeProgress
    halted: bool
    """Whether it stands at an upgrade, whatever it says."""
    uncovered: int
    """The height of the upgrade that it stands at, if no version covers that; 0 otherwise."""
    version_height: int
    """The height that its version is chosen by."""

    @property
    def name(self) -> str:
        return self.instance.name

    @property
    def state(self) -> SyncState:
        return state_of(self.item)

    @property
    def present(self) -> bool:
        """Whether it has a pod that is to stay."""
        return self.pod is not None and not self.pod.deleting and not self.away

    @property
    def in_sync(self) -> bool:
        """Whether its node follows the chain, by its own word."""
        return self.present and not self.halted and self.state is SyncState.IN_SYNC

    @property
    def halt_height(self) -> int:
        """The height of the upgrade that it is halted for."""
        return self.uncovered or self.progress.upgrade_height

    @property
    def has_blocks(self) -> bool:
        """Whether it is in sync, and further than genesis: its volume is worth a copy."""
        return self.in_sync and bool(self.progress.latest)

    @property
    def reachable(self) -> bool:
        return self.present and not self.halted and self.state.reachable

    @property
    def available(self) -> bool:
        """In sync, and ready where readiness is probed: its Service sends it requests."""
        return self.in_sync and self.pod is not None and (self.pod.ready or not self.pod.probed)

    def settled(self, now: datetime) -> bool:
        """Whether it is available, and was ready for a while if readiness is probed."""
        if not self.available or self.pod is None:
            return False
        condition = condition_of(self.pod.conditions, "Ready")
        if not self.pod.probed or condition is None or condition.last_transition_time is None:
            return True
        return parse_timestamp(condition.last_transition_time) + SETTLED < now


@dataclass(frozen=True)
class Observed:
    """Everything that was read about one CosmosFullNode."""

    full_node: CosmosFullNode
    pods: tuple[NodePod, ...] = ()
    configs: tuple[NodeConfig, ...] = ()
    services: tuple[Service, ...] = ()
    claims: tuple[PersistentVolumeClaim, ...] = ()
    snapshots: tuple[VolumeSnapshot, ...] = ()
    items: Mapping[str, CometItem] = field(default_factory=dict)
    """What nodes said, by the uid of their pods."""
    away: frozenset[str] = frozenset()
    """The pods that are taken away for snapshots."""
    errors: tuple[Cause, ...] = ()
    warnings: tuple[str, ...] = ()
    now: datetime = datetime.min

    @property
    def status(self) -> FullNodeStatus:
        return self.full_node.status or FullNodeStatus()

    @cached_property
    def nodes(self) -> tuple[ChainNode, ...]:
        """Every instance, by ordinal."""
        pods = {each.metadata.name: each for each in main_pods(self.pods)}
        return tuple(self._node(each, pods.get(each.name)) for each in instances(self.full_node))

    @cached_property
    def pre_upgrade(self) -> PreUpgrade:
        """The copy that an upgrade waits for."""
        images = {pod.metadata.name: node_image(pod) for pod in main_pods(self.pods)}
        return pre_upgrade(self.full_node, images, self.snapshots, self.now)

    @property
    def desired(self) -> int:
        """How many nodes there should be; one that is away for a snapshot is one of them."""
        return sum(not node.disabled for node in self.nodes)

    @property
    def available(self) -> int:
        return sum(node.available for node in self.nodes)

    def same_as(self, before: Observed) -> bool:
        """Whether the very same was read just now: what was concluded from it holds."""
        return self.now - before.now <= JUST_NOW and self._read == before._read

    @property
    def _read(self) -> tuple[object, ...]:
        # One tuple: what is the same object in both is not looked into.
        children = self.pods, self.configs, self.services, self.claims
        return self.full_node, *children, self.snapshots, self.items, self.away

    def _node(self, instance: Instance, pod: NodePod | None) -> ChainNode:
        item = self.items.get(pod.metadata.uid) if pod is not None else None
        progress, chain = self._progress(instance, pod, item), self.full_node.spec.chain
        height = version_height(chain.versions, progress, chain.upgrade_grace_seconds)
        held, waited = self.pre_upgrade.held_below, self.pre_upgrade.candidate
        return ChainNode(
            instance=instance,
            disabled=override_of(self.full_node, instance.name).disable is not None,
            away=instance.name in self.away or instance == waited,
            pod=pod,
            item=item,
            progress=progress,
            halted=is_halted(chain.versions, progress),
            uncovered=uncovered_height(chain.versions, progress),
            version_height=height if held is None else min(height, held - 1),
        )

    def _progress(
        self, instance: Instance, pod: NodePod | None, item: CometItem | None
    ) -> NodeProgress:
        latest, status = item.height if item is not None else None, self.status
        upgrade = status.upgrade_info.get(instance.name)
        since = item.advanced_at if item is not None else None
        watched = self.full_node.spec.chain.watch_upgrade_plans
        planned = status.planned_upgrade if watched else None
        return NodeProgress(
            # What was written, not what was heard: after a crash the same version is chosen.
            height=status.height.get(instance.name, 0),
            latest=latest,
            upgrade_height=upgrade.height if upgrade is not None else 0,
            planned_height=planned.height if planned is not None else 0,
            stalled_seconds=(self.now - since).total_seconds() if since is not None else 0.0,
            unreachable=state_of(item) is SyncState.UNREACHABLE,
            image=node_image(pod) if pod is not None else "",
        )


def main_pods(pods: Iterable[NodePod]) -> list[NodePod]:
    """The pods of nodes, by ordinal; those beside them are not asked anything."""
    nodes = (pod for pod in pods if BELONGS_TO_LABEL not in pod.metadata.labels)
    return sorted(nodes, key=ordinal)


def node_image(pod: NodePod) -> str:
    """What the node of a pod runs."""
    nodes = (each.image for each in pod.spec.containers if each.name == NODE_CONTAINER)
    return next(nodes, "")
