"""What all pods of a node share: where it keeps things, what it may do, and how it acts.

Values and Protocols, bound once when the agent is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct, field

from quintant.api.quantity import Quantity
from quintant.cluster.common.labels import NODE
from quintant.cluster.common.pod_ips import PodIPs
from quintant.cluster.host.loopback import HOST
from quintant.cluster.kubelet.container.images import Images
from quintant.cluster.kubelet.container.lifecycle import Moment
from quintant.cluster.kubelet.process.protocols import Prober, Processes
from quintant.core.address import BindAddress
from quintant.core.clock import Clock, Random, elapsed


class NodePolicy(Struct, frozen=True):
    """What pods may do beyond their own folders."""

    host_paths: bool = False
    """Whether volumes may be any folder of this machine."""


class NodeContext(Struct, frozen=True):
    """The node under its pods."""

    folder: Path
    """Everything of this agent; gone with it."""
    storage: Path
    """The root of persistent volumes."""
    api: BindAddress
    """Where pods reach the API server."""
    images: Images
    addresses: PodIPs
    processes: Processes
    prober: Prober
    clock: Clock
    random: Random
    policy: NodePolicy = NodePolicy()
    mark: str = ""
    """What everything that this agent starts carries; see `process/orphans.py`."""
    inherited: Mapping[str, str] = field(default_factory=dict)
    """What programs get of this process's environment: where programs are, and the language."""
    allocatable: Mapping[str, Quantity] = field(default_factory=dict)
    name: str = NODE
    host: str = HOST
    names: Callable[[str], Mapping[str, str]] = lambda namespace: {}
    """What tells programs of a namespace how the names of services are found."""

    def now(self) -> Moment:
        return Moment(self.clock.now(), elapsed(self.clock))
