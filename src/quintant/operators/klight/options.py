"""The settings of klight, with the reason for each default; `quintant operator klight --set …`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from quintant.core.options import Duration
from quintant.operators.klight.api import LABEL, Repair
from quintant.wire.lightpeer import PORT


class Options(Struct, frozen=True):
    """Durations are seconds; on the command line also 500ms, 10s, 5m."""

    label: str = LABEL
    """The label that names a pod's network."""
    network_scope: Literal["namespace", "cluster"] = "namespace"
    """Whether equal ids in two namespaces are two networks, or one: tenants must not merge."""
    home: str = "default"
    """The namespace of the LightNetworks of networks that span namespaces."""
    default_port: int = PORT
    """Where a peer listens whose pod names no port."""
    infer_port: bool = False
    """Take the only TCP port of a container called lightpeer; off, for parity with upstream."""
    workers: int = 32
    """Networks worked on at once; within a network, joins are one after another."""
    probe_interval: Duration = 10.0
    """How often members are checked, give or take a fifth."""
    down_after: Duration = 30.0
    """A member that fails every check for so long is down, and no longer a contact."""
    join_timeout: Duration = 10.0
    """How long a join may take, plus 10 ms per member: a chain is streamed meanwhile."""
    settle: Duration = 30.0
    """How long a join of unknown outcome is left alone: it may still be going on in the peer."""
    found_after: Duration = 0.5
    """A new network is founded once its pods have been still so long: the oldest founds it."""
    precheck_contact: bool = True
    """Check a contact before a pod is sent to it; without, dead ones cost a failed join."""
    adopt: Literal["query", "assume", "join"] = "query"
    """Unrecorded peers of another make, older than this process: members if their contents equal
    the contact's, members always, or never (upstream's way)."""
    repair: Repair = "manual"
    """Whether a split network is mended on request, by itself, or not at all."""
    gc_after: Duration = 300.0
    """How long a LightNetwork outlives its last pod."""
