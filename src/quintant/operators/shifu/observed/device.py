"""What is known of a device when its plan is made: values alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from quintant.api.core import Toleration
from quintant.operators.shifu.api.device import EdgeDeviceStatus
from quintant.operators.shifu.observed.device_view import DeviceView
from quintant.operators.shifu.observed.links import Intent
from quintant.operators.shifu.observed.placement import PlacementRequest
from quintant.operators.shifu.observed.secret import SecretUse
from quintant.operators.shifu.observed.views import (
    ComposedObject,
    ShifuConfig,
    ShifuDeployment,
    ShifuPod,
    ShifuService,
)
from quintant.operators.shifu.rules.geo import GeoPoint
from quintant.operators.shifu.rules.hints import Hints
from quintant.operators.shifu.rules.images import NOT_ALLOWED, not_allowed
from quintant.operators.shifu.rules.limits import NodePhase
from quintant.operators.shifu.rules.serving import NotServed, not_served


@dataclass(frozen=True, slots=True)
class SeenNode:
    """What a decision needs to know of the node that a device is bound to."""

    name: str
    phase: NodePhase | None
    """None if there is no such node."""
    location: GeoPoint | None = None
    tolerations: tuple[Toleration, ...] = ()

    @property
    def lost(self) -> bool:
        """Whether nothing runs there."""
        return self.phase in (None, NodePhase.LOST)


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that was read about one device."""

    device: DeviceView
    hints: Hints
    want: PlacementRequest
    now: datetime
    deployment: ShifuDeployment | None = None
    """The one that we composed for this very device."""
    theirs: ShifuDeployment | None = None
    """The one that the user brought."""
    service: ShifuService | None = None
    generated: ShifuConfig | None = None
    config: ShifuConfig | None = None
    """The user's."""
    config_data: Mapping[str, str] = field(default_factory=dict)
    """What is in it, where a program of the user's own depends on it."""
    secret: SecretUse | None = None
    """The Secret that it logs in with, if it does with one."""
    strange_image: str = ""
    """An image that it names, and that the operator was not given."""
    pods: tuple[ShifuPod, ...] = ()
    stale: tuple[ComposedObject, ...] = ()
    """What belonged to an earlier device of this name."""
    node: SeenNode | None = None
    """Where its Deployment, or the user's pod, is."""
    intent: Intent | None = None
    unplaced: str = ""
    """Why nothing was found for it when its node was lost."""
    lost_nodes: frozenset[str] = frozenset()
    """Of the nodes of its pods, those on which nothing runs any more."""
    held: bool = False
    """Whether evacuations are held back, since most nodes are lost."""

    @property
    def status(self) -> EdgeDeviceStatus:
        """What is said of it."""
        return self.device.status or EdgeDeviceStatus()

    @property
    def not_served(self) -> NotServed | None:
        """What keeps it from having a deviceShifu."""
        if self.strange_image:
            return NotServed(NOT_ALLOWED, not_allowed(self.strange_image))
        return not_served(self.device)


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What is left of a device that is no more."""

    objects: tuple[ComposedObject, ...]
