"""What is mended of a CosmosFullNode, if its user asks for it. Pure.

    volumes      one that is fuller than the mark is to be larger; not while it is growing already
    drift        a node claims to be in sync and is far behind its siblings
    stall        its height stands still while others advance, it is silent, or it has no peers
    crash loop   its program ends again and again: it begins anew, from the newest copy

A node is restarted if that was seen twice, its pod is no newcomer, it was not restarted lately, and
the budget of the CosmosFullNode allows it. Times are those of our own clock: a chain's clock may be
wrong by a day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from quintant.api.quantity import Quantity, parse_quantity
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.clock import parse_timestamp, timestamp
from quintant.operators.cosmos.api import NODE_CONTAINER
from quintant.operators.cosmos.api.full_node import PvcAutoScale, SelfHeal
from quintant.operators.cosmos.api.status import PvcAutoScaling
from quintant.operators.cosmos.builders.pvc_builder import STORAGE, increased, quantity_of
from quintant.operators.cosmos.observe.observed import ChainNode, Observed
from quintant.operators.cosmos.plan.rollout import disruption_budget, max_unavailable

COOLDOWN = timedelta(minutes=10)
"""After a restart a node is left alone for so long: it may be on its way back."""
NEWCOMER = timedelta(minutes=2)
DRIFT, STALL = "drift", "stall"
_GROWING = ("Resizing", "FileSystemResizePending")


@dataclass(frozen=True, slots=True)
class FirstSeen:
    """When something was first seen of a pod, by the time of the answer that said so."""

    uid: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class NodeTrouble:
    """What is wrong with a node, for a restart."""

    node: ChainNode
    reason: str
    said: str


def plan_growth(
    observed: Observed, scale: PvcAutoScale, used: Mapping[str, int]
) -> dict[str, PvcAutoScaling]:
    """The sizes that volumes are to have, by claim; `used` is how full each is, in percent."""
    claims = {each.metadata.name: each for each in observed.claims}
    known = observed.status.self_healing.pvc_auto_scaler
    wanted = {}
    for name, percent in sorted(used.items()):
        claim = claims.get(name)
        if claim is None or percent < scale.used_space_percentage or is_growing(claim):
            continue
        size = larger_size(claim, scale)
        before = known.get(name)
        if size is None or (before is not None and _equal(before.requested_size, size)):
            continue
        moment = timestamp(observed.now)
        wanted[name] = PvcAutoScaling(requested_size=size, requested_at=moment)
    return wanted


def larger_size(claim: PersistentVolumeClaim, scale: PvcAutoScale) -> Quantity | None:
    """The next size of a volume; None if it has the most that it may have."""
    capacity = _capacity(claim)
    size = increased(capacity, scale.increase_quantity)
    if scale.max_size is not None:
        most = parse_quantity(scale.max_size)
        if capacity >= most:
            return None
        size = min(size, most)
    return quantity_of(size)


def is_growing(claim: PersistentVolumeClaim) -> bool:
    """Whether a volume is on its way to a larger size, or has none yet."""
    told = any(each.type in _GROWING and each.status == "True" for each in claim.status.conditions)
    asked = claim.spec.resources.requests.get(STORAGE, Quantity("0"))
    return told or not claim.status.capacity or parse_quantity(asked) > _capacity(claim)


def troubles(
    observed: Observed, wanted: SelfHeal, alone: Mapping[str, datetime]
) -> Iterator[NodeTrouble]:
    """The nodes with which something is wrong; `alone` is since when those without peers are."""
    if wanted.height_drift_mitigation is not None:
        threshold = wanted.height_drift_mitigation.threshold
        for node in lagging(observed.nodes, threshold):
            yield NodeTrouble(node, DRIFT, f"{threshold} blocks behind or more")
    if wanted.stall is not None:
        yield from _stalled(observed, timedelta(seconds=wanted.stall.seconds), alone)


def lagging(nodes: Iterable[ChainNode], threshold: int) -> list[ChainNode]:
    """The nodes that say they are in sync, and are so many blocks behind, by ordinal."""
    told = [(node, _height(node)) for node in nodes if node.in_sync]
    highest = max((height for _, height in told), default=0)
    return [node for node, height in told if highest - height >= threshold]


def _stalled(
    observed: Observed, limit: timedelta, alone: Mapping[str, datetime]
) -> Iterator[NodeTrouble]:
    highest = max(
        (_height(node) for node in observed.nodes if _advances(node, observed, limit)), default=0
    )
    for node in observed.nodes:
        if not node.present or node.halted or node.pod is None or node.item is None:
            continue
        silent = node.item.failing_since if node.item.error else None
        since = alone.get(node.pod.metadata.uid)
        if silent is not None and observed.now - silent >= limit and _runs(node):
            yield NodeTrouble(node, STALL, f"silent: {node.item.error}")
        elif node.reachable and not _advances(node, observed, limit) and _height(node) < highest:
            yield NodeTrouble(node, STALL, f"at height {_height(node)} while others advance")
        elif node.reachable and since is not None and observed.now - since >= limit:
            yield NodeTrouble(node, STALL, "without peers")


def plan_restarts(
    observed: Observed,
    wanted: SelfHeal,
    alone: Mapping[str, datetime],
    seen: Mapping[str, FirstSeen],
) -> list[NodeTrouble]:
    """The nodes to restart now; `seen` is what was first seen of each, by name."""
    due = [
        each
        for each in troubles(observed, wanted, alone)
        if confirmed(each, seen.get(each.node.name)) and may_restart(each.node, observed)
    ]
    first = list({each.node.name: each for each in reversed(due)}.values())[::-1]
    working = [each for each in first if each.node.available]
    down = [each for each in first if not each.node.available]
    returning = observed.desired - observed.available - len(down)
    most = max_unavailable(observed.crd.spec.strategy.max_unavailable, observed.desired)
    return [*down[: max(most - returning, 0)], *working[: disruption_budget(observed)]]


def confirmed(found: NodeTrouble, before: FirstSeen | None) -> bool:
    """Whether an earlier answer of the same pod said so, too."""
    node = found.node
    if before is None or node.pod is None or node.item is None:
        return False
    same = (before.uid, before.reason) == (node.pod.metadata.uid, found.reason)
    return same and node.item.asked_at > before.at


def may_restart(node: ChainNode, observed: Observed) -> bool:
    """Whether a node's pod is old enough, and was not restarted lately."""
    created = node.pod.metadata.creation_timestamp if node.pod is not None else None
    if created is None or observed.now - parse_timestamp(created) < NEWCOMER:
        return False
    last = observed.status.self_healing.restarted_at.get(node.name)
    return last is None or observed.now - parse_timestamp(last) >= COOLDOWN


def sightings(
    found: Iterable[NodeTrouble], before: Mapping[str, FirstSeen]
) -> dict[str, FirstSeen]:
    """What was first seen of each node, and is still so."""
    kept: dict[str, FirstSeen] = {}
    for each in found:
        node = each.node
        if node.pod is None or node.item is None or node.name in kept:
            continue
        known, uid = before.get(node.name), node.pod.metadata.uid
        same = known is not None and (known.uid, known.reason) == (uid, each.reason)
        first = FirstSeen(uid, each.reason, node.item.asked_at)
        kept[node.name] = known if known is not None and same else first
    return kept


def _advances(node: ChainNode, observed: Observed, limit: timedelta) -> bool:
    since = node.item.advanced_at if node.item is not None else None
    return node.reachable and since is not None and observed.now - since < limit


def _runs(node: ChainNode) -> bool:
    """Whether the node's program runs, though it does not answer."""
    told = node.pod.status.container_statuses if node.pod is not None else ()
    return any(each.name == NODE_CONTAINER and each.state.running is not None for each in told)


def _height(node: ChainNode) -> int:
    return (node.item.height if node.item is not None else None) or 0


def _capacity(claim: PersistentVolumeClaim) -> Decimal:
    return parse_quantity(claim.status.capacity.get(STORAGE, Quantity("0")))


def _equal(one: Quantity, other: Quantity) -> bool:
    return parse_quantity(one) == parse_quantity(other)
