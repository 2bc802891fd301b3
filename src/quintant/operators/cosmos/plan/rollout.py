"""Which pods are replaced now, so that never too many nodes are away by our hand. Pure.

A node is available if CometBFT says that it is in sync and, where the pod has a readiness probe, it
is ready. One budget is for everything that takes a node away: this, healing, and snapshots.

    at once         another image is wanted, and the node is halted, unreachable or never started:
                    waiting cannot help
    in its place    a node that is not available anyway, while fewer of them than the budget allows
                    are on their way back
    by the budget   one that is available, lowest ordinal first; other images before other changes

Nothing is decided about a node that was not asked yet. A replaced pod is another: until its node
is in sync the budget is spent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from quintant.core.clock import parse_timestamp
from quintant.operators.cosmos.api import BELONGS_TO_LABEL, NODE_CONTAINER
from quintant.operators.cosmos.api.chain import ChainVersion
from quintant.operators.cosmos.api.full_node import RolloutStrategy
from quintant.operators.cosmos.api.views import NodePod, PodObject
from quintant.operators.cosmos.observed.comet import SyncState
from quintant.operators.cosmos.observed.full_node import ChainNode, Observed
from quintant.operators.cosmos.observed.outcome import PodOutcome
from quintant.runtime.apply import ChildChanges

DEFAULT_UNAVAILABLE = "25%"
_ENDED = ("Failed", "Succeeded")
PodChanges = ChildChanges[PodObject, NodePod]
_LOST = "ContainerStatusUnknown"


@dataclass(frozen=True, slots=True)
class PodUpdate:
    """A pod that differs from what it should be."""

    have: NodePod
    want: PodObject


@dataclass(frozen=True, slots=True)
class PodRollout:
    """What is replaced now, and whether more is to come."""

    delete: tuple[NodePod, ...] = ()
    more: bool = False
    overdue: str = ""
    """The pod at which the update stopped, because it did not become available in time."""


@dataclass(frozen=True, slots=True)
class PodPlan:
    """The pods to delete now, and what is reported of all of them."""

    delete: tuple[NodePod, ...]
    outcome: PodOutcome
    replaces: bool = False
    """Whether pods go that work: only by the newest spec."""


def max_unavailable(wanted: int | str | None, desired: int) -> int:
    """How many nodes may be away: a number or a part, rounded down, and at least one."""
    given = DEFAULT_UNAVAILABLE if wanted is None else wanted
    if isinstance(given, str):
        given = desired * int(given.removesuffix("%")) // 100
    return max(given, 1)


def compute_rollout(wanted: int | str | None, desired: int, ready: int) -> int:
    """How many more nodes may be taken away, if so many are ready of those desired."""
    most = max_unavailable(wanted, desired)
    if ready <= desired - most:
        return 0
    return min(most - (desired - ready), desired)


def disruption_budget(observed: Observed) -> int:
    """How many available nodes may be taken away now, by any controller."""
    wanted = observed.full_node.spec.strategy.max_unavailable
    return compute_rollout(wanted, observed.desired, len(counted(observed.nodes)))


def counted(nodes: Sequence[ChainNode]) -> list[ChainNode]:
    """The nodes that count as working: those available or, if none is in sync, those that answer.

    Where every node is behind, waiting for one to be in sync would let no node be mended.
    """
    if any(node.in_sync for node in nodes):
        return [node for node in nodes if node.available]
    return [node for node in nodes if node.reachable]


def is_ended(pod: NodePod) -> bool:
    """Whether a pod has failed, was evicted, or is lost: it never runs again."""
    states = (each.state.terminated for each in pod.status.container_statuses)
    lost = any(state is not None and state.reason == _LOST for state in states)
    return not pod.deleting and (pod.status.phase in _ENDED or lost)


def plan_pods(observed: Observed, changes: PodChanges) -> PodPlan:
    """What is deleted after the missing pods were made, and the surplus ones deleted.

    Where anything of that was done, or a pod has ended, nothing is replaced in the same reconcile.
    """
    ended = tuple(pod for pod in observed.pods if is_ended(pod))
    if changes.create or changes.delete or ended:
        return PodPlan(ended, PodOutcome(progressing=True))
    rollout = plan_rollout(observed, (PodUpdate(it.have, it.want) for it in changes.update))
    busy = bool(rollout.delete or rollout.more or changes.waiting)
    outcome = PodOutcome(busy and not rollout.overdue, rollout.overdue)
    return PodPlan(rollout.delete, outcome, replaces=bool(rollout.delete))


def plan_rollout(observed: Observed, updates: Iterable[PodUpdate]) -> PodRollout:
    """What to replace of the pods that differ."""
    wanted = tuple(updates)
    main = {each.have.metadata.name: each for each in wanted if not _beside(each.have)}
    strategy, nodes = observed.full_node.spec.strategy, observed.nodes
    chosen = _at_once(observed, main)
    overdue = _overdue(nodes, main.keys(), strategy, observed.now)
    if not overdue:
        chosen += _in_place(observed, main, chosen)
        chosen += _by_budget(observed, main, chosen)
    names = {node.name for node in chosen}
    pods = [main[name].have for name in sorted(names, key=list(main).index)]
    beside = [each.have for each in wanted if _beside(each.have)]
    held = _held_back(beside, main, names)
    delete = (*pods, *(pod for pod in beside if pod not in held))
    return PodRollout(delete, more=len(delete) < len(wanted), overdue=overdue)


def _at_once(observed: Observed, main: dict[str, PodUpdate]) -> list[ChainNode]:
    versions = observed.full_node.spec.chain.versions
    return [
        node
        for node in _candidates(observed, main, whole=True)
        if _never_started(node)
        or (_image_differs(main[node.name], versions) and _beyond_waiting(node))
    ]


def _in_place(
    observed: Observed, main: dict[str, PodUpdate], chosen: Collection[ChainNode]
) -> list[ChainNode]:
    """Nodes that are down anyway, while fewer than the budget are on their way back."""
    working = {node.name for node in counted(observed.nodes)}
    down = [node for node in observed.nodes if not node.disabled and node.name not in working]
    returning = [node for node in down if node.name not in main]
    slots = max_unavailable(observed.full_node.spec.strategy.max_unavailable, observed.desired)
    ready = [
        node
        for node in _candidates(observed, main)
        if node in down and node not in chosen and node.state is not SyncState.SILENT
    ]
    return ready[: max(slots - len(returning), 0)]


def _by_budget(
    observed: Observed, main: dict[str, PodUpdate], chosen: Collection[ChainNode]
) -> list[ChainNode]:
    working = {node.name for node in counted(observed.nodes)}
    versions = observed.full_node.spec.chain.versions
    ready = [
        node for node in _candidates(observed, main) if node.name in working and node not in chosen
    ]
    ready.sort(key=lambda node: not _image_differs(main[node.name], versions))
    return ready[: disruption_budget(observed)]


def _candidates(
    observed: Observed, main: dict[str, PodUpdate], *, whole: bool = False
) -> list[ChainNode]:
    """The nodes whose pods may be replaced: known, there, and not left out by the partition."""
    lowest = observed.full_node.spec.strategy.partition or 0
    return [
        node
        for node in observed.nodes
        if node.name in main
        and node.present
        and (node.state is not SyncState.UNKNOWN or _never_started(node))
        and (node.instance.ordinal >= lowest or (whole and node.halted))
    ]


def _beyond_waiting(node: ChainNode) -> bool:
    return node.halted or node.state is SyncState.UNREACHABLE


def _never_started(node: ChainNode) -> bool:
    """Whether the node's program never ran in this pod: nothing is lost with it."""
    if node.pod is None or node.state not in (SyncState.UNKNOWN, SyncState.UNREACHABLE):
        return False
    if not node.pod.status.pod_ip:
        return True
    statuses = (each for each in node.pod.status.container_statuses if each.name == NODE_CONTAINER)
    found = next(statuses, None)
    return (
        found is not None
        and found.state.waiting is not None
        and not found.restart_count
        and found.last_state.terminated is None
    )


def _image_differs(update: PodUpdate, versions: Iterable[ChainVersion]) -> bool:
    """Whether the node, or a container that follows its version, is to have another image."""
    mapped = {NODE_CONTAINER}.union(*(each.containers for each in versions))
    have = {each.name: each.image for each in update.have.spec.containers if each.name in mapped}
    wanted = update.want.spec.value.get("containers", ())
    want = {each["name"]: each.get("image", "") for each in wanted if each["name"] in mapped}
    return have != want


def _overdue(
    nodes: Iterable[ChainNode], updating: Collection[str], strategy: RolloutStrategy, now: datetime
) -> str:
    """The pod that is as it should be, and did not become available in time."""
    if strategy.progress_deadline_seconds is None:
        return ""
    limit = timedelta(seconds=strategy.progress_deadline_seconds)
    for node in nodes:
        if node.present and node.pod is not None and node.name not in updating:
            created = node.pod.metadata.creation_timestamp
            if created and not node.available and now - parse_timestamp(created) > limit:
                return node.name
    return ""


def _beside(pod: NodePod) -> bool:
    return BELONGS_TO_LABEL in pod.metadata.labels


def _held_back(
    beside: Iterable[NodePod], main: Collection[str], chosen: Collection[str]
) -> list[NodePod]:
    """Pods beside nodes that change with them, and wait for them."""
    owners = ((pod, pod.metadata.labels[BELONGS_TO_LABEL]) for pod in beside)
    return [pod for pod, owner in owners if owner in main and owner not in chosen]
