"""What klight reads and writes: labelled pods as it sees them, and LightNetwork to see networks.

Every name that a user may type (label, annotations, port names, reasons) stands here and in the
table of docs/klight.md. The record of a membership is a set of annotations on the pod itself, so
that the controller can be restarted at any moment.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from quintant.api.core import Pod, ReadinessGate
from quintant.api.meta import Condition
from quintant.core.markers import immutable, list_map
from quintant.core.object import Custom, Model, Object
from quintant.core.resource import projection, resource

GROUP = "klight.quintant.dev"
LABEL = "klight.networkId"
"""The label whose value is the network a pod belongs to."""
PORT_NAMES = ("klightPort", "klightport", "klight-port", "klight")
"""Names of the port that lightpeer listens on. A real API server refuses the first one."""
PEER_CONTAINERS = ("lightpeer", "klightpeer")
"""Names of the container that is the peer."""

# Annotations of users, on pods.
PORT = f"{GROUP}/port"
CONTAINER = f"{GROUP}/container"
PAUSED = f"{GROUP}/paused"
# Annotation of users, on LightNetworks: any value that is new asks for one repair.
REPAIR = f"{GROUP}/repair-requested"

# The record of a membership, on pods.
NETWORK = f"{GROUP}/network"
INCARNATION = f"{GROUP}/incarnation"
ADDRESS = f"{GROUP}/address"
JOINED_AT = f"{GROUP}/joined-at"
JOINED_VIA = f"{GROUP}/joined-via"
GENERATION = f"{GROUP}/generation"

JOINED = f"{GROUP}/Joined"
"""The condition of pods that list it among their readiness gates: ready means joined, too."""

FOUNDER = "founder"
ADOPTED = "adopted"
"""Values of joined-via that are no contact: alone at first, or found to be a member already."""

Repair = Literal["auto", "manual", "off"]
Phase = Literal["Forming", "Ready", "Degraded", "Split", "Empty"]


class PeerPort(Model):
    """A port of a container."""

    container_port: int
    name: str = ""
    protocol: str = ""


class PeerContainer(Model):
    """A container, as far as it may be the peer."""

    name: str
    ports: tuple[PeerPort, ...] = ()
    restart_policy: str | None = None


class PeerSpec(Model):
    """Where the peer may listen."""

    containers: tuple[PeerContainer, ...] = ()
    init_containers: tuple[PeerContainer, ...] = ()
    host_network: bool = False
    readiness_gates: tuple[ReadinessGate, ...] = ()


class PeerRunning(Model):
    """Since when a container runs."""

    started_at: str | None = None


class PeerState(Model):
    """Whether a container runs."""

    running: PeerRunning | None = None


class PeerContainerStatus(Model):
    """Which incarnation of a container this is."""

    name: str
    restart_count: int = 0
    container_id: str = msgspec.field(default="", name="containerID")
    state: PeerState = PeerState()


class PeerStatus(Model):
    """Where the pod is, and which incarnations of its containers run."""

    phase: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    container_statuses: tuple[PeerContainerStatus, ...] = ()
    init_container_statuses: tuple[PeerContainerStatus, ...] = ()
    conditions: tuple[Condition, ...] = ()


@projection(Pod)
class PeerPod(Object):
    """A pod with the label, and nothing of it that klight does not use."""

    spec: PeerSpec = PeerSpec()
    status: PeerStatus = PeerStatus()


class LightNetworkSpec(Model):
    """Which network this is, and what may be done for it."""

    network_id: Annotated[str, Meta(max_length=63), immutable()] = msgspec.field(name="networkID")
    repair: Repair | None = None
    """Overrides the controller's `repair`."""
    paused: bool | None = None
    """While true, nobody is joined, dropped or repaired; checks go on."""


class NetworkPeer(Model):
    """One pod of a network."""

    pod: str
    """Name, or namespace/name where the network spans namespaces."""
    uid: str
    address: str = ""
    state: str = ""
    """Up, Suspect, Down, Waiting, Moving or Invalid."""
    joined_at: str | None = None
    joined_via: str | None = None
    message: str | None = None


class LightNetworkStatus(Model):
    """What the controller sees of the network."""

    observed_generation: int | None = None
    phase: str | None = None
    members: int | None = None
    ready: int | None = None
    pending: int | None = None
    down: int | None = None
    contact: str | None = None
    """The top of the stack: whom the next pod will be sent to."""
    stack: tuple[str, ...] = ()
    """Addresses, newest first, at most 50."""
    head_id: str | None = msgspec.field(default=None, name="headID")
    height: int | None = None
    """The chain of the contact, if it is one of our own peers."""
    last_join: str | None = None
    repair_handled: str | None = None
    """The last value of the annotation repair-requested that was acted upon."""
    peers: Annotated[tuple[NetworkPeer, ...], list_map("uid")] = ()
    """At most 200, members first."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


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
