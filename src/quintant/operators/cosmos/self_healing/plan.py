"""What is mended of a CosmosFullNode, if its user asks for it. Pure.

volumes    one that is fuller than the mark is to be larger; not while it is growing already
drift      a node that claims to be in sync and is far behind its siblings is restarted, if that
           was seen twice, its pod is no newcomer, it was not restarted lately, and the budget
           of the CosmosFullNode allows it
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from quintant.api.quantity import Quantity, parse_quantity
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.clock import parse_timestamp, timestamp
from quintant.operators.cosmos.api.full_node import PvcAutoScale
from quintant.operators.cosmos.api.status import PvcAutoScaling
from quintant.operators.cosmos.observe import ChainNode, Observed
from quintant.operators.cosmos.plan.rollout import disruption_budget
from quintant.operators.cosmos.pvc_builder import STORAGE, increased, quantity_of

COOLDOWN = timedelta(minutes=10)
"""After a restart a node is left alone for so long: it may be on its way back."""
NEWCOMER = timedelta(minutes=2)
_GROWING = ("Resizing", "FileSystemResizePending")


@dataclass(frozen=True, slots=True)
class DriftSighting:
    """When a pod was first seen behind, by the time of the answer that said so."""

    uid: str
    at: datetime


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


def lagging(nodes: Iterable[ChainNode], threshold: int) -> list[ChainNode]:
    """The nodes that say they are in sync, and are so many blocks behind, by ordinal."""
    told = [(node, _height(node)) for node in nodes if node.in_sync]
    highest = max((height for _, height in told), default=0)
    return [node for node, height in told if highest - height >= threshold]


def plan_restarts(
    observed: Observed, threshold: int, seen: Mapping[str, DriftSighting]
) -> list[ChainNode]:
    """The nodes to restart now; `seen` is when each was first behind, by name."""
    due = [
        node
        for node in lagging(observed.nodes, threshold)
        if confirmed(node, seen.get(node.name)) and may_restart(node, observed)
    ]
    return due[: disruption_budget(observed)]


def confirmed(node: ChainNode, before: DriftSighting | None) -> bool:
    """Whether an earlier answer of the same pod said so, too."""
    if before is None or node.pod is None or node.item is None:
        return False
    return before.uid == node.pod.metadata.uid and node.item.asked_at > before.at


def may_restart(node: ChainNode, observed: Observed) -> bool:
    """Whether a node's pod is old enough, and was not restarted lately."""
    created = node.pod.metadata.creation_timestamp if node.pod is not None else None
    if created is None or observed.now - parse_timestamp(created) < NEWCOMER:
        return False
    last = observed.status.self_healing.restarted_at.get(node.name)
    return last is None or observed.now - parse_timestamp(last) >= COOLDOWN


def sightings(
    observed: Observed, threshold: int, before: Mapping[str, DriftSighting]
) -> dict[str, DriftSighting]:
    """When each node that is behind now was first seen so."""
    found = {}
    for node in lagging(observed.nodes, threshold):
        if node.pod is None or node.item is None:
            continue
        known, uid = before.get(node.name), node.pod.metadata.uid
        first = DriftSighting(uid, node.item.asked_at)
        found[node.name] = known if known is not None and known.uid == uid else first
    return found


def _height(node: ChainNode) -> int:
    return (node.item.height if node.item is not None else None) or 0


def _capacity(claim: PersistentVolumeClaim) -> Decimal:
    return parse_quantity(claim.status.capacity.get(STORAGE, Quantity("0")))


def _equal(one: Quantity, other: Quantity) -> bool:
    return parse_quantity(one) == parse_quantity(other)
