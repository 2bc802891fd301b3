"""The scheduler of the embedded cluster: which node each pod goes to.

In the order of a decision, `cycle` leading through it:

    queue ─► pod_info, resources ─► snapshot, node_info
          ─► filter (taints, pod_affinity_spread, volume_binding) ─► score, preemption
          ─► binder

All but `cycle` and `binder` is pure or plain state. Pods of other schedulers
are left alone, and count where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quintant.api.core import Namespace, Pod
from quintant.api.storage import StorageClass
from quintant.cluster.common.views import ClaimView, NodeView, PersistentVolumeView, PodView
from quintant.cluster.component.component import Component
from quintant.cluster.scheduler.cycle import Scheduler
from quintant.cluster.scheduler.pod_info import Locate
from quintant.cluster.scheduler.queue import SCHEDULER
from quintant.core.object import Metadata, Object, Request
from quintant.runtime.manager.manager import Manager

NAME = "kube-scheduler"
_ROUND = (Request("round"),)


def no_programs(image: str, command: Sequence[str]) -> None:
    """For a cluster in which nothing is run as a real process."""


def scheduler(locate: Locate = no_programs) -> Component:
    """The scheduler; `locate` finds the programs that the real node runs (`Images.locate`)."""
    manager = Manager(NAME)
    (
        manager.keyed(SCHEDULER)
        .watches(PodView, to=_round, when=_is_relevant_change)
        .watches(NodeView, to=_round, when=_node_changed)
        .watches(ClaimView, to=_round)
        .watches(PersistentVolumeView, to=_round)
        .watches(StorageClass, to=_round)
        .watches(Metadata[Namespace], to=_round)
        .uses(Pod, "patch", sub="status")
        .uses(Pod, "create", sub="binding")
        .uses(Pod, "delete")
        .uses(ClaimView, "patch")
        .workers(1)
        .reconcile(Scheduler(locate))
    )
    return Component(manager)


def _round(obj: Object) -> Iterable[Request]:
    return _ROUND


def _is_relevant_change(old: PodView | None, new: PodView | None) -> bool:
    """Whether a change of a pod may change what is to be done: not if only its status moved."""
    if old is None or new is None or new.ended != old.ended:
        return True
    return not new.spec.node_name and (old.spec, old.metadata.labels) != (
        new.spec,
        new.metadata.labels,
    )


def _node_changed(old: NodeView | None, new: NodeView | None) -> bool:
    """Whether a node has changed for pods; heartbeats do not."""
    if old is None or new is None:
        return True
    return (old.spec, old.status, old.metadata.labels) != (
        new.spec,
        new.status,
        new.metadata.labels,
    )
