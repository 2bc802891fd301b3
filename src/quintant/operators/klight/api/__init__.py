"""What klight reads and writes: labelled pods as it sees them. `lightnetwork.api` shows networks.

Every name that a user may type (label, annotations, port names, reasons) stands here and in the
table of docs/klight.md. The record of a membership is a set of annotations on the pod itself, so
that the controller can be restarted at any moment.
"""

from __future__ import annotations

import msgspec

from quintant.api.core import Pod, PodReadinessGate
from quintant.api.meta import Condition
from quintant.core.object import Model, Object
from quintant.core.resource import projection

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

# The record of a membership, on pods.
NETWORK = f"{GROUP}/network"
INCARNATION = f"{GROUP}/incarnation"
ADDRESS = f"{GROUP}/address"
JOINED_AT = f"{GROUP}/joined-at"
JOINED_VIA = f"{GROUP}/joined-via"
GENERATION = f"{GROUP}/generation"
JOINING = f"{GROUP}/joining"
"""That a peer which cannot tell is being joined: through which contact, and which life of it."""
WRITTEN = (NETWORK, INCARNATION, ADDRESS, JOINED_AT, JOINED_VIA, GENERATION, JOINING)
"""All that we write on pods; it goes when the label goes."""

JOINED = f"{GROUP}/Joined"
"""The condition of pods that list it among their readiness gates: ready means joined, too."""

FOUNDER = "founder"
ADOPTED = "adopted"
"""Values of joined-via that are no contact: alone at first, or found to be a member already."""


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
    readiness_gates: tuple[PodReadinessGate, ...] = ()


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
