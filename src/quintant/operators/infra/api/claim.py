"""InfrastructureClaim: which Cluster has an infrastructure; there is one per infrastructure.

It is a kind of our own and has no namespace: its name alone keeps two Clusters of any namespaces,
and two operators, from having the same infrastructure; who may write in a namespace cannot write
it; and the operator needs no right over anybody else's objects for it.
"""

from __future__ import annotations

import msgspec

from quintant.core.object import Custom, Model
from quintant.core.resource import Column, resource
from quintant.operators.infra.api.names import CATEGORY, GROUP, VERSION


class ClaimHolder(Model):
    """The Cluster that has it; one that is gone has nothing, and another may take its place."""

    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    uid: str
    """Its uid: a namesake that comes later is another one."""


class InfrastructureClaimSpec(Model):
    """Which infrastructure it is, and whose."""

    provider: str
    """The provider's address: host, port and path."""
    infrastructure_id: str = msgspec.field(name="infrastructureID")
    """Its id at the provider."""
    holder: ClaimHolder


class NoStatus(Model):
    """Nothing is said of it."""


@resource(
    group=GROUP,
    version=VERSION,
    namespaced=False,
    categories=[CATEGORY],
    columns={
        "Infrastructure": ".spec.infrastructureID",
        "Namespace": ".spec.holder.namespace",
        "Cluster": ".spec.holder.name",
        "Provider": Column(".spec.provider", priority=1),
        "Age": ".metadata.creationTimestamp",
    },
)
class InfrastructureClaim(Custom[InfrastructureClaimSpec, NoStatus]):
    """Says which Cluster an infrastructure is; written by the operator alone."""
