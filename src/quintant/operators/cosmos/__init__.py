"""The Cosmos operator: full nodes of chains, their snapshots and their healing. See README.md here.

CosmosFullNode            services, keys, configuration, pods and volumes of nodes
CacheController           asks the nodes, for all other controllers
SelfHealing               volumes that fill up, nodes that fall behind or end again and again
upgrade plans             what a chain announces
ScheduledVolumeSnapshot   copies of volumes, on time
StatefulJob               jobs on copies
"""

from __future__ import annotations

import os

from quintant.api.batch import Job
from quintant.api.core import ConfigMap, Pod, Service, ServiceAccount
from quintant.api.rbac import Role, RoleBinding
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.options import from_environment
from quintant.operators.cosmos.act.full_node_control import FullNodeControl
from quintant.operators.cosmos.act.pod_control import PodControl
from quintant.operators.cosmos.act.pvc_control import PvcControl
from quintant.operators.cosmos.alerts import ALERTS
from quintant.operators.cosmos.api import OURS
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import (
    FINALIZER,
    ScheduledVolumeSnapshot,
)
from quintant.operators.cosmos.api.stateful_job import StatefulJob
from quintant.operators.cosmos.api.views import NodeConfig, NodePod
from quintant.operators.cosmos.cache.reconcile import CacheReconciler
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.observe import triggers
from quintant.operators.cosmos.options import Options
from quintant.operators.cosmos.reconcile import CosmosFullNodeReconciler
from quintant.operators.cosmos.remote import HttpNodes, NodeRemote
from quintant.operators.cosmos.remote.comet import CometCache
from quintant.operators.cosmos.scheduled_volume_snapshot import observe as snapshots
from quintant.operators.cosmos.scheduled_volume_snapshot.act import SnapshotControl
from quintant.operators.cosmos.scheduled_volume_snapshot.cleanup import cleanup
from quintant.operators.cosmos.scheduled_volume_snapshot.observed import phase_of
from quintant.operators.cosmos.scheduled_volume_snapshot.reconcile import (
    ScheduledVolumeSnapshotReconciler,
)
from quintant.operators.cosmos.self_healing.act import HealingControl
from quintant.operators.cosmos.self_healing.reconcile import SelfHealingReconciler
from quintant.operators.cosmos.stateful_job import observe as jobs
from quintant.operators.cosmos.stateful_job.builders import LABELS as JOB_LABELS
from quintant.operators.cosmos.stateful_job.reconcile import StatefulJobReconciler
from quintant.operators.cosmos.upgrade_plans.reconcile import UpgradePlanReconciler
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.key_locks import KeyLocks
from quintant.runtime.shard.layout import by_namespace
from quintant.runtime.source import predicates

_OWNED = {triggers.OWNER: triggers.owner_uid}
_SCHEDULES = {triggers.FULL_NODE_INDEX: triggers.full_node_key}


def controllers(
    manager: Manager, options: Options | None = None, remote: NodeRemote | None = None
) -> None:
    """Declare everything that the Cosmos operator does; `remote` is how nodes are asked."""
    options = options or from_environment(Options, os.environ)
    metrics = CosmosMetrics()
    manager.operator(options, metrics=metrics, alerts=ALERTS)
    nodes, locks = remote or HttpNodes(), KeyLocks()
    cache = CometCache(nodes)
    control = FullNodeControl(nodes, PodControl(options.tools, cache), PvcControl(), locks)
    _full_nodes(manager, options, CosmosFullNodeReconciler(control, cache, metrics))
    _cache(manager, CacheReconciler(cache))
    _healing(manager, SelfHealingReconciler(nodes, HealingControl(cache, locks, metrics)))
    _plans(manager, UpgradePlanReconciler(nodes, cache))
    snapshots_control = SnapshotControl(cache, locks)
    _snapshots(manager, ScheduledVolumeSnapshotReconciler(snapshots_control, metrics))
    _jobs(manager, StatefulJobReconciler())


def _full_nodes(manager: Manager, options: Options, reconciler: CosmosFullNodeReconciler) -> None:
    pods, claims = (
        predicates.changed(triggers.pod_aspects),
        predicates.changed(triggers.claim_aspects),
    )
    schedules = predicates.generation | predicates.deleted
    builder = (
        manager.controls(CosmosFullNode, name="cosmos-fullnode", when=triggers.CHANGED, shared=True)
        .watches(NodePod, to=triggers.owner_of, when=pods, labels=OURS, index=_OWNED)
        .watches(
            PersistentVolumeClaim, to=triggers.owner_of, when=claims, labels=OURS, index=_OWNED
        )
        .watches(
            ScheduledVolumeSnapshot, to=triggers.full_node_of, when=schedules, index=_SCHEDULES
        )
        .watches(VolumeSnapshot, to=lambda _: (), optional=True)
    )
    for kind in (NodeConfig, Service, ServiceAccount, Role, RoleBinding):
        builder.watches(kind, to=triggers.owner_of, labels=OURS, index=_OWNED)
    for written in (ConfigMap, Service, ServiceAccount, Role, RoleBinding):
        builder.uses(written, "create", "patch")
    (
        builder.uses(Pod, "create", "patch", "delete")
        .uses(PersistentVolumeClaim, "create", "patch", "delete")
        .uses(VolumeSnapshot, "create")
        .uses(Service, "delete")
        .uses(RoleBinding, "delete")
        .on(reconciler.cache.news)
        .keeps(reconciler.metrics, reconciler.control.claims.refusals)
        .shard_by(by_namespace)
        .workers(options.max_concurrent_reconciles)
        .reconcile(reconciler)
    )


def _cache(manager: Manager, reconciler: CacheReconciler) -> None:
    addresses = predicates.any(triggers.has_address) & predicates.changed(triggers.address_aspects)
    (
        manager.controls(CosmosFullNode, name="cosmos-cache", when=triggers.HEIGHTS_CHANGED)
        .watches(NodePod, to=triggers.owner_of, when=addresses, labels=OURS, index=_OWNED)
        .shard_by(by_namespace)
        .keeps(reconciler.cache)
        .reconcile(reconciler)
    )


def _healing(manager: Manager, reconciler: SelfHealingReconciler) -> None:
    (
        manager.controls(CosmosFullNode, name="cosmos-selfhealing", when=predicates.generation)
        .uses(Pod, "delete")
        .uses(PersistentVolumeClaim, "delete")
        .shard_by(by_namespace)
        .keeps(reconciler.memories)
        .reconcile(reconciler)
    )


def _plans(manager: Manager, reconciler: UpgradePlanReconciler) -> None:
    (
        manager.controls(CosmosFullNode, name="cosmos-upgrades", when=predicates.generation)
        .shard_by(by_namespace)
        .reconcile(reconciler)
    )


def _snapshots(manager: Manager, reconciler: ScheduledVolumeSnapshotReconciler) -> None:
    index = by_index(triggers.FULL_NODE_INDEX)
    pods = by_index(triggers.FULL_NODE_INDEX, snapshots.full_node_of_pod)
    nodes = predicates.changed(snapshots.full_node_aspects)
    (
        manager.controls(
            ScheduledVolumeSnapshot,
            name="cosmos-snapshot",
            when=predicates.generation | predicates.changed(phase_of),
        )
        .index(triggers.FULL_NODE_INDEX, triggers.full_node_key)
        .watches(CosmosFullNode, to=index, when=nodes)
        .watches(NodePod, to=pods, when=predicates.deleted, labels=OURS, index=_OWNED)
        .watches(VolumeSnapshot, to=snapshots.schedule_of, optional=True)
        .uses(VolumeSnapshot, "create", "delete")
        .uses(CosmosFullNode, "patch", sub="status")
        .shard_by(by_namespace)
        .finalize(FINALIZER, cleanup)
        .reconcile(reconciler)
    )


def _jobs(manager: Manager, reconciler: StatefulJobReconciler) -> None:
    index = by_index(jobs.NAMESPACE_INDEX, jobs.snapshot_namespace)
    ready = predicates.changed(jobs.snapshot_aspects)
    owned = jobs.owner_of
    (
        manager.controls(StatefulJob, name="cosmos-statefuljob", when=predicates.generation)
        .index(jobs.NAMESPACE_INDEX, jobs.namespace_of)
        .watches(Job, to=owned, labels=JOB_LABELS)
        .watches(PersistentVolumeClaim, to=owned, labels=OURS, index=_OWNED)
        .watches(VolumeSnapshot, to=index, when=ready, optional=True)
        .uses(Job, "create")
        .uses(PersistentVolumeClaim, "create", "delete")
        .shard_by(by_namespace)
        .reconcile(reconciler)
    )
