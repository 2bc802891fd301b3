"""shifu: a deviceShifu for every edge device, placed well, and moved when needed. See README.md."""

from __future__ import annotations

import os

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Pod, Secret, Service
from quintant.api.metrics import NodeMetrics
from quintant.core.options import from_environment
from quintant.operators.shifu import edge_node, mirror, telemetry_service
from quintant.operators.shifu.act.evacuate import Evacuator
from quintant.operators.shifu.act.rebalance import Rebalancer
from quintant.operators.shifu.alerts import ALERTS
from quintant.operators.shifu.api.device import EdgeDevice, UpstreamEdgeDevice
from quintant.operators.shifu.api.names import MANAGER
from quintant.operators.shifu.builders.accounts import OURS, UPSTREAM, agent_accounts
from quintant.operators.shifu.metrics import ShifuMetrics
from quintant.operators.shifu.observe import triggers
from quintant.operators.shifu.observe.collector import FiguresCollector
from quintant.operators.shifu.observe.follower import TopologyFollower
from quintant.operators.shifu.observed.device_view import ShifuDevice, UpstreamShifuDevice
from quintant.operators.shifu.observed.node_view import ShifuNode
from quintant.operators.shifu.observed.views import (
    ShifuConfig,
    ShifuDeployment,
    ShifuPod,
    ShifuService,
)
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.reconcile import EdgeDeviceReconciler
from quintant.operators.shifu.remote import NodeFiguresSource, metrics_api
from quintant.operators.shifu.report.pages import EdgeMapPages
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source.channel import Channel


def controllers(
    manager: Manager, options: Options | None = None, remote: NodeFiguresSource | None = None
) -> None:
    """Declare everything that shifu does; `remote` reports what nodes use."""
    options = options or from_environment(Options, os.environ)
    ours = options.crd_flavor == "ours"
    devices_in = options.device_namespaces or manager.settings.namespaces
    manager.add_objects(
        *agent_accounts(options.shifu_namespace, devices_in, OURS if ours else UPSTREAM)
    )
    kind = ShifuDevice if ours else UpstreamShifuDevice
    topology, devices = Topology(options, kind), Channel()
    nodes, mirrors = Channel(), Channel()
    metrics = ShifuMetrics(topology)
    manager.operator(options, metrics=metrics, alerts=ALERTS)
    declare(manager, topology, devices, metrics)
    edge_node.controllers(manager, topology, nodes)
    mirror.controllers(manager, topology, mirrors)
    telemetry_service.controllers(manager, options)
    manager.add(TopologyFollower(topology, devices, (nodes, mirrors)))
    manager.add(FiguresCollector(topology, remote or metrics_api, nodes))
    manager.add(EdgeMapPages(topology))
    manager.add(Evacuator(topology, devices, nodes), leader=True)
    manager.add(Rebalancer(topology, devices), leader=True)


def declare(manager: Manager, topology: Topology, devices: Channel, metrics: ShifuMetrics) -> None:
    """Declare the controller of devices."""
    watch, options = triggers.Triggers(topology), topology.options
    ours = options.crd_flavor == "ours"
    whole = EdgeDevice if ours else UpstreamEdgeDevice
    changed = triggers.SPEC_CHANGED if ours else triggers.DEVICE_CHANGED
    here, there = options.device_namespaces, (options.shifu_namespace,)
    (
        manager.keyed(MANAGER)
        .watches(
            topology.kind, to=triggers.itself, when=changed, index=triggers.BY_WORD,
            namespaces=here,
        )
        .watches(ShifuNode, to=triggers.no_requests)
        .watches(
            ShifuDeployment, to=triggers.device_of, when=triggers.CHILD_CHANGED,
            index=triggers.BY_DEVICE, namespaces=there,
        )
        .watches(
            ShifuPod, to=triggers.device_of, when=triggers.CHILD_CHANGED, index=triggers.BY_DEVICE,
            namespaces=there,
        )
        .watches(
            ShifuService, to=triggers.device_of, when=triggers.CHILD_CHANGED,
            index=triggers.BY_DEVICE, namespaces=there,
        )
        .watches(ShifuConfig, to=watch.of_config, index=triggers.BY_CONFIG, namespaces=there)
        .uses(whole, "patch", sub="status" if whole is EdgeDevice else "", namespaces=here)
        .uses(Deployment, "create", "patch", "delete", namespaces=there)
        .uses(Service, "create", "patch", "delete", namespaces=there)
        .uses(ConfigMap, "create", "patch", "delete", namespaces=there)
        .uses(Pod, "delete", namespaces=there)
        .uses(Secret, "get", namespaces=there)
        .uses(NodeMetrics, "get", "list")
        .on(devices)
        .workers(options.max_concurrent_reconciles)
        .reconcile(EdgeDeviceReconciler(topology, metrics))
    )  # fmt: skip
