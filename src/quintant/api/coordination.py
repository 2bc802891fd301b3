"""Leases: who leads, and which node is alive."""

from __future__ import annotations

from quintant.core.object import Model, Object
from quintant.core.resource import resource


class LeaseSpec(Model):
    """Who holds a lease, since when, and for how long; times have microseconds."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


@resource(group="coordination.k8s.io", version="v1")
class Lease(Object):
    """A claim that runs out unless it is renewed."""

    spec: LeaseSpec = LeaseSpec()
