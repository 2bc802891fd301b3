"""kwok: the simulator as a component of the control plane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quintant.api.coordination import Lease
from quintant.api.core import Node, Pod
from quintant.cluster.apiserver.handlers.metrics import READER
from quintant.cluster.common.labels import NODE, is_simulated
from quintant.cluster.common.node_faults import fault_of
from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.cluster.component.component import Component
from quintant.cluster.host.loopback import HOST
from quintant.cluster.simulated import nodes
from quintant.cluster.simulated.defaults import DEFAULTS
from quintant.cluster.simulated.fleet import Fleet
from quintant.cluster.simulated.meter import SimulatedMeter
from quintant.cluster.simulated.pods import Locate, PodController
from quintant.cluster.simulated.stages import Stage, Stages
from quintant.cluster.simulated.views import SimNode, SimPod
from quintant.core.clock import Clock, SystemClock
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.permissions import verb_permissions
from quintant.runtime.source import predicates

NAME = "simulator"


def no_programs(image: str, command: Sequence[str]) -> None:
    """For a cluster in which no image is run as a real process."""


def simulator(
    fleet: Fleet = Fleet(),
    *,
    stages: Iterable[Stage] = (),
    completion: float | None = None,
    locate: Locate = no_programs,
    host: str = HOST,
    clock: Clock = SystemClock(),
    times: HeartbeatTimes = HeartbeatTimes(),
) -> Component:
    """What leads simulated nodes and pods.

    `completion` is after how many seconds pods end that are not restarted for ever, and whose
    programs nothing is known of. `locate` finds the programs of nodes that run processes, and
    `host` is the address of `local`.
    """
    manager, known = Manager(NAME), Stages((*stages, *DEFAULTS), completion)
    pods = PodController(known, locate, NODE, host, fleet.pods)
    (
        manager.keyed("simulated-pods")
        .watches(SimPod, to=lambda pod: (pod.key,), when=_is_relevant_change)
        .watches(SimNode, to=pods.pods_on, when=_health_changed)
        .uses(Pod, "delete")
        .uses(Pod, "patch", sub="status")
        .reconcile(pods)
    )
    (
        manager.controls(SimNode, name="simulated-nodes", when=predicates.any(_is_simulated))
        .without_resync()
        .reconcile(nodes.NodeReconciler(times))
    )
    manager.add(nodes.NodeLeaseController(fleet, clock, times))
    extra = verb_permissions(Node, "create") | verb_permissions(Lease, "create", "patch")
    return Component(manager, extra=extra, objects=(READER,), meter=SimulatedMeter(clock))


def _is_simulated(node: SimNode) -> bool:
    return is_simulated(node.metadata.labels)


def _is_relevant_change(old: SimPod | None, new: SimPod | None) -> bool:
    """Whether a change of a pod can change its stage: it has a node, or is gone."""
    return new is None or bool(new.spec.node_name)


def _health_changed(old: SimNode | None, new: SimNode | None) -> bool:
    """Whether a node begins or ends to fail or to be ready, or is new."""
    if old is None or new is None:
        return True
    return fault_of(old) is not fault_of(new) or old.ready is not new.ready
