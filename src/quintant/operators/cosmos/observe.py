"""What a CosmosFullNode depends on: what wakes it, how it is read, and what it looks like then.

`observe` reads caches only, that of the nodes' answers too; `Observed` is the input of every
decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from quintant.api.core import Service
from quintant.api.meta import condition_of
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.clock import parse_timestamp
from quintant.core.errors import Cause
from quintant.core.object import Object, Request
from quintant.core.owner import controller_of
from quintant.core.resource import resource_of
from quintant.operators.cosmos.api import BELONGS_TO_LABEL, NODE_CONTAINER
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.status import FullNodeStatus
from quintant.operators.cosmos.api.views import NodeConfig, NodePod
from quintant.operators.cosmos.builders.instances import Instance, instances, override_of
from quintant.operators.cosmos.cache.observe import CometCache
from quintant.operators.cosmos.cache.plan import CometItem, SyncState, state_of
from quintant.operators.cosmos.plan.pre_upgrade import PreUpgrade, plan_pre_upgrade
from quintant.operators.cosmos.plan.upgrades import NodeProgress, is_halted, version_height
from quintant.operators.cosmos.rules import validate, warn
from quintant.operators.cosmos.scheduled_volume_snapshot.api import ScheduledVolumeSnapshot
from quintant.runtime.apply import ordinal
from quintant.runtime.cache.client import Client
from quintant.runtime.controller import predicates
from quintant.runtime.controller.context import Context

OWNER = "cosmos/owner"
"""The index of children by the uid of their CosmosFullNode."""
SETTLED = timedelta(seconds=5)
"""A pod that has just become ready may not stay so: it is no candidate for anything yet."""
_CRD = resource_of(CosmosFullNode)


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
        told = condition_of(self.pod.conditions, "Ready")
        if not self.pod.probed or told is None or told.last_transition_time is None:
            return True
        return parse_timestamp(told.last_transition_time) + SETTLED < now


@dataclass(frozen=True)
class Observed:
    """Everything that was read about one CosmosFullNode."""

    crd: CosmosFullNode
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
        return self.crd.status or FullNodeStatus()

    @cached_property
    def nodes(self) -> tuple[ChainNode, ...]:
        """Every instance, by ordinal."""
        found = {each.metadata.name: each for each in main_pods(self.pods)}
        return tuple(self._node(each, found.get(each.name)) for each in instances(self.crd))

    @cached_property
    def pre_upgrade(self) -> PreUpgrade:
        """The copy that an upgrade waits for."""
        images = {pod.metadata.name: node_image(pod) for pod in main_pods(self.pods)}
        return plan_pre_upgrade(self.crd, images, self.snapshots, self.now)

    @property
    def desired(self) -> int:
        """How many nodes there should be; one that is away for a snapshot is one of them."""
        return sum(not node.disabled for node in self.nodes)

    @property
    def available(self) -> int:
        return sum(node.available for node in self.nodes)

    def _node(self, instance: Instance, pod: NodePod | None) -> ChainNode:
        item = self.items.get(pod.metadata.uid) if pod is not None else None
        progress, chain = self._progress(instance, pod, item), self.crd.spec.chain
        height = version_height(chain.versions, progress, chain.upgrade_grace_seconds)
        held, waited = self.pre_upgrade.held_below, self.pre_upgrade.candidate
        return ChainNode(
            instance=instance,
            disabled=override_of(self.crd, instance.name).disable is not None,
            away=instance.name in self.away or instance == waited,
            pod=pod,
            item=item,
            progress=progress,
            halted=is_halted(chain.versions, progress),
            version_height=height if held is None else min(height, held - 1),
        )

    def _progress(
        self, instance: Instance, pod: NodePod | None, item: CometItem | None
    ) -> NodeProgress:
        told, status = item.height if item is not None else None, self.status
        upgrade = status.upgrade_info.get(instance.name)
        since = item.advanced_at if item is not None else None
        return NodeProgress(
            # What was written, not what was heard: after a crash the same version is chosen.
            height=status.height.get(instance.name, 0),
            latest=told,
            upgrade_height=upgrade.height if upgrade is not None else 0,
            stalled_seconds=(self.now - since).total_seconds() if since is not None else 0.0,
            unreachable=state_of(item) is SyncState.UNREACHABLE,
            image=node_image(pod) if pod is not None else "",
        )


async def observe(
    crd: CosmosFullNode, client: Client, cache: CometCache, now: datetime
) -> Observed:
    """Read everything about a CosmosFullNode."""
    place, owned = crd.metadata.namespace, (OWNER, crd.metadata.uid)
    pods = await client.list(NodePod, place, index=owned)
    schedules = await client.list(ScheduledVolumeSnapshot, place)
    found = {pod.metadata.uid: cache.find(pod.metadata.uid) for pod in pods}
    return Observed(
        crd=crd,
        pods=tuple(pods),
        configs=tuple(await client.list(NodeConfig, place, index=owned)),
        services=tuple(await client.list(Service, place, index=owned)),
        claims=tuple(await client.list(PersistentVolumeClaim, place, index=owned)),
        snapshots=tuple(await client.list(VolumeSnapshot, place)),
        items={uid: item for uid, item in found.items() if item is not None},
        away=candidates(crd, schedules),
        errors=tuple(validate(crd)),
        warnings=tuple(warn(crd)),
        now=now,
    )


async def reread(ctx: Context[CosmosFullNode], cache: CometCache) -> Observed | None:
    """Read everything again, with what other controllers have written meanwhile."""
    crd = await ctx.client.find(CosmosFullNode, *ctx.request)
    if crd is None or crd.metadata.uid != ctx.obj.metadata.uid:
        return None
    return await observe(crd, ctx.client, cache, ctx.clock.now())


def candidates(crd: CosmosFullNode, schedules: Iterable[ScheduledVolumeSnapshot]) -> frozenset[str]:
    """The pods that a schedule has taken away; one that is gone or suspended has none."""
    held = crd.status.scheduled_snapshot_status if crd.status else {}
    living = {each.candidate_key for each in schedules if not each.spec.suspend}
    return frozenset(each.pod_candidate for key, each in held.items() if key in living)


def main_pods(pods: Iterable[NodePod]) -> list[NodePod]:
    """The pods of nodes, by ordinal; those beside them are not asked anything."""
    nodes = (pod for pod in pods if BELONGS_TO_LABEL not in pod.metadata.labels)
    return sorted(nodes, key=ordinal)


def node_image(pod: NodePod) -> str:
    """What the node of a pod runs."""
    nodes = (each.image for each in pod.spec.containers if each.name == NODE_CONTAINER)
    return next(nodes, "")


def owner_of(child: Object) -> Sequence[Request]:
    """The CosmosFullNode of a child."""
    held = controller_of(child)
    if held is None or held.kind != _CRD.kind or not held.api_version.startswith(_CRD.group):
        return ()
    return (Request(held.name, child.metadata.namespace),)


def owner_uid(child: Object) -> Sequence[str]:
    """Where the index files a child."""
    held = controller_of(child)
    return (held.uid,) if held is not None and held.kind == _CRD.kind else ()


def full_node_of(schedule: ScheduledVolumeSnapshot) -> Sequence[Request]:
    """The CosmosFullNode whose volumes are copied."""
    return (Request(schedule.spec.full_node_ref.name, schedule.metadata.namespace),)


def address_aspects(pod: NodePod) -> object:
    """What of a pod is needed to ask its node, and when to do so at once."""
    return pod.status.pod_ip, pod.metadata.uid, pod.ready


def pod_aspects(pod: NodePod) -> object:
    """What of a pod is acted upon or told."""
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


def written_by_others(crd: CosmosFullNode) -> object:
    """What of its status others write, and is acted upon."""
    status = crd.status or FullNodeStatus()
    return (
        status.scheduled_snapshot_status,
        status.self_healing.pvc_auto_scaler,
        status.upgrade_info,
        status.planned_upgrade,
        status.height,
    )


def told_heights(crd: CosmosFullNode) -> object:
    """What its status says of heights."""
    return crd.status.height if crd.status else {}


CHANGED = (
    predicates.generation
    | predicates.labels
    | predicates.changed(written_by_others)
    | predicates.changed(lambda crd: crd.deleting)
)
HEIGHTS_CHANGED = predicates.generation | predicates.changed(told_heights)
