"""Reads claims: who has which infrastructure, and whether that Cluster is still there."""

from __future__ import annotations

from quintant.operators.infra.api import Cluster, InfrastructureClaim
from quintant.operators.infra.observed.cluster import Holding, Observed, address_of
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.context import Context


async def claimed_ids(ctx: Context[Cluster], observed: Observed) -> frozenset[str]:
    """What other Clusters have at the provider: nobody looks there for what is missing."""
    mine, address = ctx.obj.metadata.uid, address_of(observed)
    return frozenset(
        each.spec.infrastructure_id
        for each in await ctx.client.list(InfrastructureClaim)
        if each.spec.provider == address and each.spec.holder.uid != mine
    )


def addresses(claim: InfrastructureClaim) -> tuple[str, str]:
    """The provider of a claim; who is bound to none looks at those of all."""
    return claim.spec.provider, ""


async def holding_of(client: Client, claim: InfrastructureClaim, mine: str) -> Holding:
    """Who has an infrastructure, by its claim; `mine` is the uid of the Cluster that reads it."""
    holder = claim.spec.holder
    live = holder.uid == mine
    if not live:
        # Live: what an old cache has may be long gone, or not be there yet.
        cluster = await client.find(Cluster, holder.name, holder.namespace, live=True)
        live = cluster is not None and cluster.metadata.uid == holder.uid
    return Holding(f"{holder.namespace}/{holder.name}", holder.uid, live)
