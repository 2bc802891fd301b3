"""Where one device's deviceShifu should be, from everything that was read about it. Pure.

`choose` is the first step of the design's four: schedule. What follows from it, to add, to compose
and to create, is told by the `Choice`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256

import msgspec

from quintant.api.core import Toleration
from quintant.core.clock import parse_timestamp, timestamp
from quintant.operators.shifu.builders.config import config_hash, driver_image
from quintant.operators.shifu.builders.deployment import PlacedDevice
from quintant.operators.shifu.builders.names import config_name
from quintant.operators.shifu.observe.reader import Observed
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.plan.placement import (
    NoPlacement,
    PlacementDecision,
    PlacementRequest,
)
from quintant.operators.shifu.rules.hints import Device, Hints, hint_aspects
from quintant.operators.shifu.rules.serving import beside_driver, node_local, not_served

UNSCHEDULED_SECONDS = 30.0
"""How long the scheduler may find no place before another node is tried."""
REJECTED_SECONDS = 600.0
ROLLED_BACK_SECONDS = 1800.0
"""How long a node is not tried again: one that the scheduler refused, one that never was ready."""
PLUGGED_IN = "NodeLocalDeviceWithoutNode"
PLACED, RESPECIFIED = "placed", "respecified"
EVACUATED, RESCHEDULED = "evacuated", "rescheduled"
REJECTED, ROLLED_BACK = "rejected", "rolled-back"
_HASH_LENGTH = 12

Place = Callable[[PlacementRequest], PlacementDecision | NoPlacement]


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
    yields: bool = False
    """Whether the user looks after its deviceShifu."""

    @property
    def moved(self) -> bool:
        """Whether it was elsewhere before."""
        return bool(self.cause) and bool(self.previous)


def choose(observed: Observed, place: Place, options: Options) -> Choice:
    """What becomes of a device now."""
    if observed.theirs is not None or not observed.hints.managed:
        return Choice(yields=True)
    if not_served(observed.device) is not None:
        return Choice()
    if node_local(observed.device) and not observed.hints.node:
        said = "it is plugged into a node: name that node in the hint edge-node"
        return Choice(refused=NoPlacement(PLUGGED_IN, said))
    if observed.deployment is None:
        return _first(observed, place, options)
    return _again(observed, place, options)


def placed_device(
    observed: Observed, choice: Choice, tolerations: tuple[Toleration, ...] = ()
) -> PlacedDevice:
    """Everything that the deviceShifu of a device with a place is made from."""
    before, device = observed.deployment, observed.device
    same = not choice.cause and before is not None
    own = device.spec.device_shifu is not None and device.spec.device_shifu.image
    driver = driver_image(observed.config_data) if beside_driver(device) else ""
    config = observed.config
    return PlacedDevice(
        device,
        observed.hints,
        choice.node,
        kind=before.kind if same and before else choice.decision.kind if choice.decision else "",
        placed_at=before.placed_at if same and before else timestamp(observed.now),
        placed_for=placement_digest(observed.hints),
        previous=before.previous if same and before else choice.previous,
        config_map=config.metadata.name if config is not None else config_name(device.key),
        driver_image=driver,
        config_hash=config_hash(device, observed.config_data) if driver or own else "",
        tolerations=tolerations,
        reason=before.reason
        if same and before
        else choice.decision.reason
        if choice.decision
        else "",
        moves=(before.moves if before else 0) + choice.moved,
    )


def placement_digest(hints: Hints) -> str:
    """What a place is chosen for: another digest means to choose anew."""
    asked = [
        hints.node, hints.strict, hints.location, hints.zone, hints.region,
        dict(sorted(hints.selector.items())),
    ]  # fmt: skip
    return sha256(msgspec.json.encode(asked)).hexdigest()[:_HASH_LENGTH]


def spec_digest(device: Device) -> str:
    """What a status was made for: the spec and the hints."""
    text = msgspec.json.encode([device.spec, hint_aspects(device)], order="sorted")
    return sha256(text).hexdigest()[:_HASH_LENGTH]


def _first(observed: Observed, place: Place, options: Options) -> Choice:
    """A device without a deviceShifu."""
    wait = settling_seconds(observed, options)
    if wait > 0:
        return Choice(settling=wait)
    intent = observed.intent
    if intent is not None:
        return Choice(intent.decision.node, intent.decision, intent.cause)
    found = place_somewhere(place, observed.want)
    if isinstance(found, NoPlacement):
        return Choice(refused=found)
    return Choice(found.node, found, PLACED)


def settling_seconds(observed: Observed, options: Options) -> float:
    """For how long a Deployment of the user's own is still waited for.

    A directory that is applied brings the device before its Deployment; one that is replaced goes
    before its successor comes.
    """
    since = observed.device.metadata.creation_timestamp
    gone = next((each for each in observed.status.conditions if each.reason == "Settling"), None)
    if gone is not None and gone.last_transition_time:
        since = max(since or "", gone.last_transition_time)
    elif observed.status.placement is not None and observed.status.placement.kind == "Adopted":
        return options.settle_delay
    passed = _seconds_since(observed, since)
    return max(0.0, options.settle_delay - passed)


def _again(observed: Observed, place: Place, options: Options) -> Choice:
    """A device that has a deviceShifu somewhere."""
    ours = observed.deployment
    assert ours is not None, "asked of those alone that have one"
    intent = observed.intent
    if intent is not None and intent.decision.node != ours.node:
        return Choice(intent.decision.node, intent.decision, intent.cause, previous=ours.node)
    if ours.placed_for != placement_digest(observed.hints):
        return _replaced(observed, place, RESPECIFIED)
    if observed.node is None or observed.node.phase is None:
        return _replaced(observed, place, EVACUATED)
    if observed.hints.pinned:
        return Choice(ours.node)
    if unscheduled_seconds(observed) >= UNSCHEDULED_SECONDS:
        return _rejected(observed, place)
    if ours.previous and overdue(observed, options):
        return _rolled_back(observed, place)
    return Choice(ours.node)


def _replaced(observed: Observed, place: Place, cause: str) -> Choice:
    ours = observed.deployment
    assert ours is not None, "asked of those alone that have one"
    want = observed.want
    found = place_somewhere(place, want) if cause == EVACUATED else place(want)
    if isinstance(found, NoPlacement):
        return Choice(ours.node, refused=found)
    if found.node == ours.node:
        return Choice(ours.node)
    return Choice(found.node, found, cause, previous=ours.node)


def _rejected(observed: Observed, place: Place) -> Choice:
    """The scheduler has the last word about a node: then another one."""
    ours = observed.deployment
    assert ours is not None, "asked of those alone that have one"
    found = place(_avoiding(observed.want, ours.node))
    avoid = (ours.node, REJECTED_SECONDS)
    if isinstance(found, NoPlacement):
        return Choice(ours.node, refused=found, avoid=avoid)
    return Choice(found.node, found, REJECTED, previous=ours.node, avoid=avoid)


def _rolled_back(observed: Observed, place: Place) -> Choice:
    """A move that did not work out is taken back, once."""
    ours = observed.deployment
    assert ours is not None, "asked of those alone that have one"
    want = replace(_avoiding(observed.want, ours.node), node=ours.previous, strict=False)
    found = place(want)
    if isinstance(found, NoPlacement):
        return Choice(ours.node)
    # It was chosen for what it was before: being taken back pins it to nothing.
    kind = ours.kind if found.kind == "Pinned" else found.kind
    reason = f"it was not ready in time on {ours.node}"
    decision = replace(found, kind=kind, reason=reason)
    return Choice(found.node, decision, ROLLED_BACK, avoid=(ours.node, ROLLED_BACK_SECONDS))


def place_somewhere(place: Place, want: PlacementRequest) -> PlacementDecision | NoPlacement:
    """Where a device goes that is nowhere: a node that did not work out before is better."""
    found = place(want)
    if isinstance(found, PlacementDecision) or not want.avoided:
        return found
    again = place(replace(want, avoided=frozenset()))
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
    """Whether a move has not worked out in time."""
    ours = observed.deployment
    if ours is None or ours.available:
        return False
    return _seconds_since(observed, ours.placed_at) >= options.move_timeout


def _seconds_since(observed: Observed, moment: str | None) -> float:
    if not moment:
        return float("inf")
    return (observed.now - parse_timestamp(moment)) / timedelta(seconds=1)
