"""nodeLeaseDurationSeconds, NodeMonitorGracePeriod: lease renewal of nodes, and silence.

A node renews its lease; the node controller looks whether it does. Both follow from the grace, so
that a shorter one (`quintant up --node-grace 5s`) gives up no node that is well.
"""

from __future__ import annotations

from msgspec import Struct

from quintant.api.coordination import Lease, LeaseSpec
from quintant.client.rest import MERGE, Patch
from quintant.cluster.common.node_conditions import REPORT_SECONDS
from quintant.core import codec
from quintant.core.errors import NotFound
from quintant.core.object import Object, ObjectMeta, OwnerReference, Request
from quintant.runtime.cache.client import Client

LEASES = "kube-node-lease"
"""The namespace of the leases of nodes."""
GRACE_SECONDS = 50.0
"""How long a node may be silent, as in a real cluster since 1.32."""
SHORTEST_SECONDS = 2.0
"""The least grace: leases of simulated nodes are renewed once in a second, at best."""
LEASE_SECONDS = 40
RENEW_SECONDS = 10.0
"""A quarter of the lease, as kubelets renew it."""
ROUND_SECONDS = 5.0
"""How often nodes are looked at, as in a real cluster."""
_RENEWALS = 4
"""How often a node renews its lease within a short grace: three may be late."""
_ROUNDS = 8
"""How often nodes are looked at within a short grace: so late may a silent one be found."""
_ROUNDS_AWAY = 3
"""Rounds that were missed: more, and it is we who were away."""


class HeartbeatTimes(Struct, frozen=True):
    """The times of heartbeats, all from the grace that a silent node has."""

    grace: float = GRACE_SECONDS

    @property
    def renew(self) -> float:
        """Seconds between two renewals of a lease."""
        return min(RENEW_SECONDS, self.grace / _RENEWALS)

    @property
    def lease(self) -> int:
        """Seconds that a lease is said to last."""
        return min(LEASE_SECONDS, max(1, int(self.grace)))

    @property
    def report(self) -> float:
        """Seconds after which a node that is as it was says so again, in its status."""
        return REPORT_SECONDS

    @property
    def round(self) -> float:
        """Seconds between two looks at all nodes."""
        return min(ROUND_SECONDS, self.grace / _ROUNDS)

    @property
    def absent(self) -> float:
        """Seconds between two looks after which we were away ourselves."""
        return _ROUNDS_AWAY * self.round


async def renew_lease(client: Client, node: Object, now: str, times: HeartbeatTimes) -> None:
    """Renew the lease of a node, or make it; `now` is a time with microseconds."""
    change = {"spec": {"renewTime": now, "leaseDurationSeconds": times.lease}}
    patch = Patch(MERGE, codec.encode(change), idempotent=True)
    key, query = Request(node.metadata.name, LEASES), {"fieldManager": client.manager}
    try:
        await client.rest.patch(Lease, key, patch, query=query)
    except NotFound:
        await client.create(_lease(node, now, times))


def _lease(node: Object, now: str, times: HeartbeatTimes) -> Lease:
    meta = node.metadata
    owner = OwnerReference(api_version="v1", kind="Node", name=meta.name, uid=meta.uid)
    spec = LeaseSpec(holder_identity=meta.name, lease_duration_seconds=times.lease, renew_time=now)
    placed = ObjectMeta(name=meta.name, namespace=LEASES, owner_references=(owner,))
    return Lease(metadata=placed, spec=spec)
