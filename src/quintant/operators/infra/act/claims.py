"""Claims infrastructures for a Cluster, releases them, and notes the id on the Cluster itself.

Two that want the same both create: one of them is refused. What a Cluster that is gone had is taken
over by a write that fails if another did so first.
"""

from __future__ import annotations

from contextlib import suppress

from quintant.core.errors import AlreadyExists, Conflict, NotFound, Status
from quintant.core.object import replace
from quintant.operators.infra.api import INFRASTRUCTURE, Cluster, InfrastructureClaim
from quintant.operators.infra.builders import infrastructure_claim
from quintant.operators.infra.observe.keys import HOLDER_INDEX
from quintant.operators.infra.observed.cluster import Observed, address_of
from quintant.operators.infra.plan.search import rival
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.context import Context

_TRIES = 5
"""How often a note is written again because somebody else wrote the Cluster first."""


async def win_claim(ctx: Context[Cluster], observed: Observed, id: str) -> None:
    """Claim an infrastructure; Conflict if another Cluster has it."""
    client, wanted = ctx.client, infrastructure_claim(observed.cluster, address_of(observed), id)
    known = await client.find(InfrastructureClaim, wanted.metadata.name)
    if known is None:
        with suppress(AlreadyExists):
            await client.create(wanted)
            return
        known = await client.find(InfrastructureClaim, wanted.metadata.name, live=True)
    if known is None or rival(observed, id) is not None:
        raise _taken(id)
    if known.spec == wanted.spec:
        return
    holder = observed.holdings.get(id)
    if holder is None or holder.uid != known.spec.holder.uid:
        # It was claimed since it was looked at: whether that Cluster is there is not known.
        raise _taken(id)
    await client.patch(replace(known, spec=wanted.spec), since=known)


async def release_claims(ctx: Context[Cluster], observed: Observed, ids: tuple[str, ...]) -> None:
    """Give up infrastructures that are the Cluster's no more."""
    for id in ids:
        wanted = infrastructure_claim(observed.cluster, address_of(observed), id)
        known = await ctx.client.find(InfrastructureClaim, wanted.metadata.name)
        if known is not None and known.spec.holder == wanted.spec.holder:
            await ctx.client.delete(known)


async def release_all(ctx: Context[Cluster], cluster: Cluster) -> None:
    """Give up everything that a Cluster has, also at addresses where its provider was before."""
    index = (HOLDER_INDEX, cluster.metadata.uid)
    for claim in await ctx.client.list(InfrastructureClaim, index=index):
        await ctx.client.delete(claim)


async def note_id(ctx: Context[Cluster], cluster: Cluster, id: str) -> None:
    """Write the id of the infrastructure on the Cluster; an empty one takes it off."""
    client: Client = ctx.client
    known: Cluster | None = cluster
    for _ in range(_TRIES):
        if known is None or known.metadata.uid != cluster.metadata.uid:
            return
        annotations = {**known.metadata.annotations, INFRASTRUCTURE: id}
        if not id:
            del annotations[INFRASTRUCTURE]
        noted = replace(known, metadata=replace(known.metadata, annotations=annotations))
        try:
            await client.patch(noted, since=known)
        except Conflict:
            known = await client.find(Cluster, *cluster.key, live=True)
        except NotFound:
            return
        else:
            return


def _taken(id: str) -> Conflict:
    message = f"infrastructure {id} is another Cluster's"
    return Conflict(Status(code=409, reason="Conflict", message=message))
