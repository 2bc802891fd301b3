"""The Cosmos operator: full nodes of chains, their snapshots and their healing. See README.md here.

CosmosFullNode            services, keys, configuration, pods and volumes of nodes
CacheController           asks the nodes, for everybody else
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
from quintant.operators.cosmos.act.pod_control import DisruptionLocks, PodControl
from quintant.operators.cosmos.act.pvc_control import PvcControl
from quintant.operators.cosmos.alerts import ALERTS
from quintant.operators.cosmos.api import OURS
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodeConfig, NodePod
from quintant.operators.cosmos.cache.observe import CometCache
from quintant.operators.cosmos.cache.reconcile import CacheReconcile
from quintant.operators.cosmos.metrics import CosmosMetrics
from quintant.operators.cosmos.observe import triggers
from quintant.operators.cosmos.options import Options
from quintant.operators.cosmos.reconcile import FullNodeReconcile
from quintant.operators.cosmos.remote import HttpNodes, NodeRemote
from quintant.operators.cosmos.scheduled_volume_snapshot import observe as snapshots
from quintant.operators.cosmos.scheduled_volume_snapshot.api import (
    FINALIZER,
    ScheduledVolumeSnapshot,
)
from quintant.operators.cosmos.scheduled_volume_snapshot.cleanup import cleanup
from quintant.operators.cosmos.scheduled_volume_snapshot.reconcile import SnapshotReconcile
from quintant.operators.cosmos.self_healing.act import (
    GrowthControl,
    RebuildControl,
    RestartControl,
)
from quintant.operators.cosmos.self_healing.reconcile import HealingReconcile
from quintant.operators.cosmos.stateful_job import observe as jobs
from quintant.operators.cosmos.stateful_job.api import StatefulJob
from quintant.operators.cosmos.stateful_job.builders import LABELS as JOB_LABELS
from quintant.operators.cosmos.stateful_job.reconcile import reconcile as reconcile_job
from quintant.operators.cosmos.upgrade_plans.reconcile import PlanReconcile
from quintant.runtime.controller import predicates
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager

_OWNED = {triggers.OWNER: triggers.owner_uid}


def controllers(
    manager: Manager, options: Options | None = None, remote: NodeRemote | None = None
) -> None:
    """Declare everything that the Cosmos operator does; `remote` is how nodes are asked."""
    options = options or from_environment(Options, os.environ)
    manager.configure(**options.settings)
    nodes, metrics, locks = remote or HttpNodes(), CosmosMetrics(), DisruptionLocks()
    cache = CometCache(nodes)
    manager.add_collectors(*metrics.collectors())
    manager.add_alerts(*ALERTS)
    manager.add(metrics.gauges.bind, leader=True)
    _full_nodes(manager, options, FullNodeReconcile(
        FullNodeControl(nodes, PodControl(options.tools, cache), PvcControl(), locks),
        cache,
        metrics,
    ))  # fmt: skip
    _cache(manager, cache)
    restarts = RestartControl(nodes, cache, locks, metrics)
    rebuilds = RebuildControl(cache, locks, metrics)
    _healing(manager, HealingReconcile(GrowthControl(nodes, metrics), restarts, rebuilds))
    _plans(manager, PlanReconcile(nodes, cache))
    _snapshots(manager, SnapshotReconcile(cache, locks, metrics))
    _jobs(manager)


def _full_nodes(manager: Manager, options: Options, reconcile: FullNodeReconcile) -> None:
    pods, claims = (
        predicates.changed(triggers.pod_aspects),
        predicates.changed(triggers.claim_aspects),
    )
    schedules = predicates.generation | predicates.deleted
    builder = (
        manager.controls(CosmosFullNode, name="cosmos-fullnode", when=triggers.CHANGED)
        .watches(NodePod, to=triggers.owner_of, when=pods, labels=OURS, index=_OWNED)
        .watches(
            PersistentVolumeClaim, to=triggers.owner_of, when=claims, labels=OURS, index=_OWNED
        )
        .watches(ScheduledVolumeSnapshot, to=triggers.full_node_of, when=schedules)
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
        .on(reconcile.cache.news)
        .on_deleted(reconcile.metrics.forget)
        .workers(options.max_concurrent_reconciles)
        .reconcile(reconcile)
    )


def _cache(manager: Manager, cache: CometCache) -> None:
    addresses = predicates.changed(triggers.address_aspects)
    (
        manager.controls(CosmosFullNode, name="cosmos-cache", when=triggers.HEIGHTS_CHANGED)
        .watches(NodePod, to=triggers.owner_of, when=addresses, labels=OURS, index=_OWNED)
        .on_deleted(cache.forget)
        .reconcile(CacheReconcile(cache))
    )


def _healing(manager: Manager, reconcile: HealingReconcile) -> None:
    (
        manager.controls(CosmosFullNode, name="cosmos-selfhealing", when=predicates.generation)
        .uses(Pod, "delete")
        .uses(PersistentVolumeClaim, "delete")
        .on_deleted(reconcile.forget)
        .reconcile(reconcile)
    )


def _plans(manager: Manager, reconcile: PlanReconcile) -> None:
    (
        manager.controls(CosmosFullNode, name="cosmos-upgrades", when=predicates.generation)
        .reconcile(reconcile)
    )  # fmt: skip


def _snapshots(manager: Manager, reconcile: SnapshotReconcile) -> None:
    index = by_index(snapshots.FULL_NODE_INDEX)
    pods = by_index(snapshots.FULL_NODE_INDEX, snapshots.full_node_of_pod)
    nodes = predicates.changed(snapshots.full_node_aspects)
    (
        manager.controls(
            ScheduledVolumeSnapshot,
            name="cosmos-snapshot",
            when=predicates.generation | predicates.changed(snapshots.phase_of),
        )
        .index(snapshots.FULL_NODE_INDEX, snapshots.full_node_key)
        .watches(CosmosFullNode, to=index, when=nodes)
        .watches(NodePod, to=pods, when=predicates.deleted, labels=OURS, index=_OWNED)
        .watches(VolumeSnapshot, to=snapshots.schedule_of, optional=True)
        .uses(VolumeSnapshot, "create", "delete")
        .uses(CosmosFullNode, "patch", sub="status")
        .finalize(FINALIZER, cleanup)
        .reconcile(reconcile)
    )


def _jobs(manager: Manager) -> None:
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
        .reconcile(reconcile_job)
    )
