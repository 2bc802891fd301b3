"""Where one device's deviceShifu should be, from everything that was read about it. Pure.

`choose` is the first step of the design's four: schedule. What follows from it, to add, to compose
and to create, follows from the `Choice`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256

import msgspec

from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.observed.placement import (
    NoPlacement,
    PlacementDecision,
    PlacementRequest,
)
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.rules.hints import Device, Hints, hint_aspects
from quintant.operators.shifu.rules.moments import seconds_since
from quintant.operators.shifu.rules.serving import node_local

UNSCHEDULED_SECONDS = 30.0
"""How long the scheduler may find no place before another node is tried."""
REJECTED_SECONDS = 600.0
ROLLED_BACK_SECONDS = 1800.0
"""How long a node is not tried again: one that the scheduler refused, one that never was ready."""
NONE_FEASIBLE = "NoFeasibleNode"
LEAVING_SECONDS = 30.0
"""Within which a deviceShifu that moves has ended where it was: down since, it never was up."""
PLUGGED_IN = "NodeLocalDeviceWithoutNode"
PLACED, RESPECIFIED = "placed", "respecified"
EVACUATED, RESCHEDULED = "evacuated", "rescheduled"
REJECTED, ROLLED_BACK = "rejected", "rolled-back"
_HASH_LENGTH = 12

FindPlacement = Callable[[PlacementRequest], PlacementDecision | NoPlacement]
"""Decides which node a device goes to, and binds nothing."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What becomes of a device."""

    node: str = ""
    """Where its deviceShifu is to be; empty if there is to be none."""
    decision: PlacementDecision | None = None
    """Why, if it was decided just now."""
    cause: str = ""
    """What made it be decided: one of the words above; empty if nothing has changed."""
    previous: str = ""
    refused: NoPlacement | None = None
    """Why there is no place for it."""
    avoid: tuple[str, float] | None = None
    """A node that is not to be tried again for so many seconds."""
    settling: float = 0.0
    """Seconds after which a Deployment of the user's own is no longer waited for."""
    kept: bool = False
    """Whether its deviceShifu stays as it is: as it should be, there is no place for it."""
    yields: bool = False
    """Whether the user looks after its deviceShifu."""

    @property
    def moved(self) -> bool:
        """Whether it was elsewhere before."""
        return bool(self.cause) and bool(self.previous)

    @property
    def moved_for(self) -> str:
        """What is noted of a move: whoever leads next reports it if this one could not."""
        return self.cause if self.moved or self.cause == ROLLED_BACK else ""


def choose(observed: Observed, find_placement: FindPlacement, options: Options) -> Choice:
    """What becomes of a device now."""
    if observed.theirs is not None or not observed.hints.managed:
        return Choice(yields=True)
    if observed.not_served is not None:
        return Choice()
    if node_local(observed.device) and not observed.hints.node:
        message = "it is plugged into a node: name that node in the hint edge-node"
        return Choice(refused=NoPlacement(PLUGGED_IN, message))
    if observed.deployment is None:
        return _first(observed, find_placement, options)
    return _again(observed, find_placement, options)


def placement_digest(hints: Hints) -> str:
    """What a node is chosen for: another digest means to choose again."""
    aspects = [
        hints.node, hints.strict, hints.location, hints.zone, hints.region,
        dict(sorted(hints.selector.items())),
    ]  # fmt: skip
    return sha256(msgspec.json.encode(aspects)).hexdigest()[:_HASH_LENGTH]


def spec_digest(device: Device) -> str:
    """What a status was made for: the spec and the hints."""
    text = msgspec.json.encode([device.spec, hint_aspects(device)], order="sorted")
    return sha256(text).hexdigest()[:_HASH_LENGTH]


def _first(observed: Observed, find_placement: FindPlacement, options: Options) -> Choice:
    """A device without a deviceShifu."""
    wait = settling_seconds(observed, options)
    if wait > 0:
        return Choice(settling=wait)
    intent = observed.intent
    if intent is not None:
        return Choice(intent.decision.node, intent.decision, intent.cause)
    found = find_any_placement(find_placement, observed.want)
    if isinstance(found, NoPlacement):
        return Choice(refused=found)
    return Choice(found.node, found, PLACED)


def settling_seconds(observed: Observed, options: Options) -> float:
    """For how long a Deployment of the user's own is still waited for.

    A directory that is applied brings the device before its Deployment; one that is replaced goes
    before its successor comes.
    """
    gone = next((each for each in observed.status.conditions if each.reason == "Settling"), None)
    since = [observed.device.metadata.creation_timestamp]
    if gone is not None:
        since.append(gone.last_transition_time)
    elif observed.status.placement is not None and observed.status.placement.kind == "Adopted":
        return options.settle_delay
    passed = min(_seconds_since(observed, each) for each in since)
    return max(0.0, options.settle_delay - passed)


def _again(observed: Observed, find_placement: FindPlacement, options: Options) -> Choice:
    """A device that has a deviceShifu somewhere."""
    ours = observed.deployment
    assert ours is not None, "asked of those alone that have one"
    intent = observed.intent
    if intent is not None and intent.decision.node != ours.node:
        return Choice(intent.decision.node, intent.decision, intent.cause, previous=ours.node)
    if ours.placed_for != placement_digest(observed.hints):
        return _replaced(observed, find_placement, RESPECIFIED)
    if observed.node is None or observed.node.phase is None:
        return _replaced(observed, find_placement, EVACUATED)
    if observed.want.memory > ours.memory > 0:
        return _grown(observed, find_placement)
    if observed.hints.pinned:
        return Choice(ours.node)
    if unscheduled_seconds(observed) >= UNSCHEDULED_SECONDS:
        return _rejected(observed, find_placement)
    if overdue(observed, options):
        return _rolled_back(observed, find_placement)
    return Choice(ours.node)


def _replaced(observed: Observed, find_placement: FindPlacement, cause: str) -> Choice:
    ours = observed.deployment
    assert ours is not None, "asked of those alone that have one"
    want = observed.want
    found = find_any_placement(find_placement, want) if cause == EVACUATED else find_placement(want)
    if isinstance(found, NoPlacement):
        return Choice(ours.node, refused=found, kept=True)
    if found.node == ours.node:
        return Choice(ours.node)
    return Choice(found.node, found, cause, previous=ours.node)


def _grown(observed: Observed, find_placement: FindPlacement) -> Choice:
    """One that asks for more memory: where it is, elsewhere, or as it was before."""
    ours = observed.deployment
    assert ours is not None, "asked of those alone that have one"
    found = find_placement(replace(observed.want, node=ours.node, strict=False))
    if isinstance(found, PlacementDecision) and found.node == ours.node:
        return Choice(ours.node)
    if isinstance(found, PlacementDecision) and not observed.hints.pinned:
        return Choice(found.node, found, RESPECIFIED, previous=ours.node)
    message = f"{ours.node} has no room for what it asks for"
    refused = found if isinstance(found, NoPlacement) else NoPlacement(NONE_FEASIBLE, message)
    return Choice(ours.node, refused=refused, kept=True)


def _rejected(observed: Observed, find_placement: FindPlacement) -> Choice:
    """The scheduler has the last word about a node: then another one."""
    ours = observed.deployment
    assert ours is not None, "asked of those alone that have one"
    found = find_placement(_avoiding(observed.want, ours.node))
    avoid = (ours.node, REJECTED_SECONDS)
    if isinstance(found, NoPlacement):
        return Choice(ours.node, refused=found, avoid=avoid)
    return Choice(found.node, found, REJECTED, previous=ours.node, avoid=avoid)


def _rolled_back(observed: Observed, find_placement: FindPlacement) -> Choice:
    """A move that did not work out is taken back, once."""
    ours = observed.deployment
    assert ours is not None, "asked of those alone that have one"
    want = replace(_avoiding(observed.want, ours.node), node=ours.previous, strict=False)
    found = find_placement(want)
    if isinstance(found, NoPlacement):
        return Choice(ours.node)
    # It was chosen for what it was before: being taken back pins it to nothing.
    kind = ours.kind if found.kind == "Pinned" else found.kind
    reason = f"it was not ready in time on {ours.node}"
    decision = replace(found, kind=kind, reason=reason)
    return Choice(found.node, decision, ROLLED_BACK, avoid=(ours.node, ROLLED_BACK_SECONDS))


def find_any_placement(
    find_placement: FindPlacement, want: PlacementRequest
) -> PlacementDecision | NoPlacement:
    """The node for a device that has none: one that did not work out is better than none."""
    found = find_placement(want)
    if isinstance(found, PlacementDecision) or not want.avoided:
        return found
    again = find_placement(replace(want, avoided=frozenset()))
    return again if isinstance(again, PlacementDecision) else found


def _avoiding(want: PlacementRequest, node: str) -> PlacementRequest:
    return replace(want, avoided=want.avoided | {node})


def unscheduled_seconds(observed: Observed) -> float:
    """For how long the scheduler has found no place for its pod."""
    ours = observed.deployment
    since = [
        pod.unscheduled_since
        for pod in observed.pods
        if pod.unscheduled_since and not pod.deleting and ours and pod.wanted == ours.node
    ]
    return max((_seconds_since(observed, each) for each in since), default=0.0)


def overdue(observed: Observed, options: Options) -> bool:
    """Whether a move has not worked out in time: it was never up there."""
    ours = observed.deployment
    if ours is None or not ours.previous or ours.available:
        return False
    here = seconds_since(ours.placed_at, observed.now)
    down = seconds_since(ours.unavailable_since, observed.now)
    if here is None or here < options.move_timeout:
        return False
    return down is None or down > here - LEAVING_SECONDS


def _seconds_since(observed: Observed, moment: str | None) -> float:
    passed = seconds_since(moment, observed.now)
    return float("inf") if passed is None else passed
