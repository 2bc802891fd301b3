"""LightNetwork: a network of lightpeers as users see it, and what they may ask for it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from quintant.api.meta import Condition
from quintant.core.object import Custom, Model
from quintant.core.resource import resource
from quintant.core.schema.markers import immutable, list_map
from quintant.operators.klight.api import GROUP

REPAIR = f"{GROUP}/repair-requested"
"""The annotation of users: any value that is new asks for one repair."""

WRITABLE = "Writable"
"""The condition that a client can write, as far as it is known."""

Repair = Literal["auto", "manual", "off"]
Phase = Literal["Forming", "Ready", "Degraded", "Split", "Empty"]


class LightNetworkSpec(Model):
    """Which network this is, and what may be done for it."""

    network_id: Annotated[str, Meta(max_length=63), immutable()] = msgspec.field(name="networkID")
    """The value of the label klight.networkId of its pods."""
    repair: Repair | None = None
    """Overrides the controller's `repair`."""
    paused: bool | None = None
    """While true, nobody is joined, dropped or repaired; checks go on."""


class NetworkPeer(Model):
    """One pod of a network."""

    pod: str
    """Name, or namespace/name where the network spans namespaces."""
    uid: str
    """The pod's uid."""
    address: str = ""
    """Where the peer listens."""
    state: str = ""
    """Up, Suspect, Down, Waiting, Moving or Invalid."""
    joined_at: str | None = None
    """When it joined."""
    joined_via: str | None = None
    """The member that it was sent to, or founder, or adopted."""
    message: str | None = None
    """What is wrong with it."""


class LightNetworkStatus(Model):
    """What the controller sees of the network."""

    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    phase: str | None = None
    """Forming, Ready, Degraded, Split or Empty."""
    members: int | None = None
    """Pods that have joined."""
    ready: int | None = None
    """Members that answer."""
    pending: int | None = None
    """Pods that have not joined yet."""
    down: int | None = None
    """Members that do not answer."""
    contact: str | None = None
    """The top of the stack: whom the next pod will be sent to."""
    stack: tuple[str, ...] = ()
    """Addresses, newest first, at most 50."""
    head_id: str | None = msgspec.field(default=None, name="headID")
    """The newest block of the contact, if it is one of our own peers."""
    height: int | None = None
    """The chain of the contact, if it is one of our own peers."""
    last_join: str | None = None
    """When a pod last joined."""
    repair_handled: str | None = None
    """The last value of the annotation repair-requested that was acted upon."""
    peers: Annotated[tuple[NetworkPeer, ...], list_map("uid")] = ()
    """At most 200, members first."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""


@resource(
    group=GROUP,
    version="v1alpha1",
    status=True,
    short=["lnet"],
    columns={
        "ID": ".spec.networkID",
        "Phase": ".status.phase",
        "Members": ".status.members",
        "Ready": ".status.ready",
        "Pending": ".status.pending",
        "Contact": ".status.contact",
        "Age": ".metadata.creationTimestamp",
    },
)
class LightNetwork(Custom[LightNetworkSpec, LightNetworkStatus]):
    """A network of lightpeers, as the klight controller sees it; it makes and removes them."""
