"""podsShouldBeOnNode, rollingUpdate: which pods of a DaemonSet are created and deleted next.

First every node gets the pod it should have, and loses those it should not. Then, if nothing of
that is left to do, a rollout replaces outdated pods: without surge by deleting as many as may be
unavailable, with surge by making new ones beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from quintant.api.apps import DaemonSet, RollingUpdateDaemonSet
from quintant.cluster.controllers.daemonset.placement import (
    ShouldRun,
    node_should_run_pod,
    pod_is_updated,
    target_node,
)
from quintant.cluster.controllers.int_or_percent import scaled_value
from quintant.cluster.controllers.nodes.views import NodeState
from quintant.cluster.controllers.pods.views import PodState, pod_available, pod_finished, pod_ready

ROLLING = "RollingUpdate"


class NodePods(Struct, frozen=True):
    """A node, whether it is meant, and the pods on it, the oldest first."""

    name: str
    fit: ShouldRun
    pods: tuple[PodState, ...] = ()

    @property
    def alive(self) -> list[PodState]:
        """The pods that are neither over nor being deleted."""
        return [pod for pod in self.pods if not pod_finished(pod) and not pod.deleting]

    @property
    def ended(self) -> list[PodState]:
        """The pods that are over, and that nobody has deleted yet."""
        return [pod for pod in self.pods if pod_finished(pod) and not pod.deleting]


class DaemonSetPlan(Struct, frozen=True):
    """What to do next: nodes that get a pod, and pods that go."""

    create: tuple[str, ...] = ()
    delete: tuple[PodState, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.create or self.delete)


class DaemonSetState(Struct, frozen=True):
    """A DaemonSet, where it is, and the hash of its newest template."""

    daemons: DaemonSet
    sites: tuple[NodePods, ...]
    lost: tuple[PodState, ...]
    """Pods for nodes that are not there, and that no node has taken."""
    hash: str
    now: datetime

    @staticmethod
    def of(
        daemons: DaemonSet,
        nodes: Iterable[NodeState],
        pods: Iterable[PodState],
        name: str,
        now: datetime,
    ) -> DaemonSetState:
        """Tell the pods apart by their nodes; what is over and going does not count."""
        by_node: dict[str, list[PodState]] = {}
        for pod in pods:
            if not (pod_finished(pod) and pod.deleting) and target_node(pod):
                by_node.setdefault(target_node(pod), []).append(pod)
        sites = tuple(
            NodePods(
                node.metadata.name,
                node_should_run_pod(daemons, node),
                tuple(sorted(by_node.pop(node.metadata.name, ()), key=_age)),
            )
            for node in nodes
        )
        lost = [pod for rest in by_node.values() for pod in rest if not pod.spec.node_name]
        return DaemonSetState(daemons, sites, tuple(lost), name, now)

    @property
    def desired_count(self) -> int:
        """On how many nodes a pod belongs."""
        return sum(site.fit is ShouldRun.RUN for site in self.sites)

    @property
    def surge(self) -> int:
        """On how many nodes there may be a second pod."""
        return scaled_value(self._limits.max_surge, self.desired_count, up=True)

    @property
    def unavailable(self) -> int:
        """On how many nodes the pod may be missing."""
        count = scaled_value(self._limits.max_unavailable, self.desired_count, up=True)
        return count or (0 if self.surge else 1)

    def available(self, pod: PodState) -> bool:
        return pod_available(pod, self.daemons.spec.min_ready_seconds, self.now)

    def new(self, pods: Iterable[PodState]) -> list[PodState]:
        """Those of the newest template."""
        return [pod for pod in pods if pod_is_updated(self.daemons, pod, self.hash)]

    def old(self, pods: Iterable[PodState]) -> list[PodState]:
        """Those of older templates."""
        return [pod for pod in pods if not pod_is_updated(self.daemons, pod, self.hash)]

    @property
    def _limits(self) -> RollingUpdateDaemonSet:
        strategy = self.daemons.spec.update_strategy
        rolling = strategy.rolling_update if strategy.type == ROLLING else None
        return rolling or RollingUpdateDaemonSet()


def plan_pods(daemons: DaemonSetState, spared: Sequence[PodState]) -> DaemonSetPlan:
    """Give each node what it should have; `spared` are pods that are over and stay for now."""
    create: list[str] = []
    delete: list[PodState] = list(daemons.lost)
    for site in daemons.sites:
        if site.fit is ShouldRun.LEAVE:
            delete += (pod for pod in site.pods if not pod.deleting)
            continue
        delete += (pod for pod in site.ended if pod not in spared)
        delete += _excess(daemons, site)
        lacks = not (site.alive if daemons.surge else site.pods)
        if site.fit is ShouldRun.RUN and lacks:
            create.append(site.name)
    return DaemonSetPlan(tuple(create), tuple(delete))


def plan_rolling_update(daemons: DaemonSetState) -> DaemonSetPlan:
    """The next step of a rollout."""
    if daemons.daemons.spec.update_strategy.type != ROLLING:
        return DaemonSetPlan()
    return _surge(daemons) if daemons.surge else _replace(daemons)


def _excess(daemons: DaemonSetState, site: NodePods) -> list[PodState]:
    """All but the oldest pod of a node; while it surges, all but the oldest of each kind."""
    alive = site.alive
    if not daemons.surge or len(alive) <= 1:
        return alive[1:]
    new, old = daemons.new(alive), daemons.old(alive)
    excess = [*new[1:], *old[1:]]
    if new and old and (not pod_ready(old[0]) or daemons.available(new[0])):
        excess.append(old[0])
    return excess


def _replace(daemons: DaemonSetState) -> DaemonSetPlan:
    """Delete outdated pods: those that are not available, and of the others as many as may be."""
    missing, broken, candidates = 0, [], []
    for site in daemons.sites:
        if site.fit is not ShouldRun.RUN and not site.pods:
            continue
        there = [pod for pod in site.pods if not pod.deleting]
        new, old = daemons.new(there), daemons.old(there)
        if len(there) != 1:
            missing += 1
        elif new:
            missing += not daemons.available(new[0])
        elif not daemons.available(old[0]):
            broken.append(old[0])
            missing += 1
        else:
            candidates.append(old[0])
    return DaemonSetPlan(delete=(*broken, *candidates[: max(0, daemons.unavailable - missing)]))


def _surge(daemons: DaemonSetState) -> DaemonSetPlan:
    """Make new pods beside outdated ones, and delete these once the new ones are available."""
    surging, working = 0, 0
    delete: list[PodState] = []
    leaving: list[PodState] = []
    urgent: list[str] = []
    candidates: list[str] = []
    for site in daemons.sites:
        there = [pod for pod in site.pods if not pod.deleting]
        new, old = daemons.new(there), daemons.old(there)
        if len(new) > 1 or len(old) > 1:
            surging += 1
            continue
        working += any(map(daemons.available, old or new))
        if old and new:
            if daemons.available(new[0]):
                delete += old
            else:
                surging += 1
        elif old and site.fit is not ShouldRun.RUN:
            (leaving if daemons.available(old[0]) else delete).append(old[0])
        elif old:
            (candidates if daemons.available(old[0]) else urgent).append(site.name)
    # Who asks for surge wants no gap: a pod leaves its node once enough others do their work.
    delete += leaving[: max(0, working - daemons.desired_count)]
    create = (*urgent, *candidates[: max(0, daemons.surge - surging)])
    return DaemonSetPlan(create, tuple(delete))


def _age(pod: PodState) -> tuple[bool, str, str]:
    """Orders pods: those on a node first, then the oldest."""
    return not pod.spec.node_name, pod.metadata.creation_timestamp or "", pod.metadata.name
