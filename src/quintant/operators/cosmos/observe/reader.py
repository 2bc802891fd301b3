"""How a CosmosFullNode is read: from caches only, that of the nodes' answers too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from quintant.api.core import Service
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import PersistentVolumeClaim
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodeConfig, NodePod
from quintant.operators.cosmos.cache.observe import CometCache
from quintant.operators.cosmos.observe.observed import Observed
from quintant.operators.cosmos.observe.triggers import OWNER
from quintant.operators.cosmos.rules import validate, warn
from quintant.operators.cosmos.scheduled_volume_snapshot.api import ScheduledVolumeSnapshot
from quintant.runtime.cache.client import Client
from quintant.runtime.controller.context import Context


async def observe(
    crd: CosmosFullNode,
    client: Client,
    cache: CometCache,
    now: datetime,
    before: Observed | None = None,
) -> Observed:
    """Read everything about a CosmosFullNode; `before` again, if that was just now the same."""
    place, owned = crd.metadata.namespace, (OWNER, crd.metadata.uid)
    pods = await client.list(NodePod, place, index=owned)
    schedules = await client.list(ScheduledVolumeSnapshot, place)
    said = {pod.metadata.uid: cache.find(pod.metadata.uid) for pod in pods}
    found = Observed(
        crd=crd,
        pods=tuple(pods),
        configs=tuple(await client.list(NodeConfig, place, index=owned)),
        services=tuple(await client.list(Service, place, index=owned)),
        claims=tuple(await client.list(PersistentVolumeClaim, place, index=owned)),
        snapshots=tuple(await client.list(VolumeSnapshot, place)),
        items={uid: item for uid, item in said.items() if item is not None},
        away=candidates(crd, schedules),
        now=now,
    )
    if before is not None and found.same_as(before):
        return before
    return replace(found, errors=tuple(validate(crd)), warnings=tuple(warn(crd)))


async def reread(
    ctx: Context[CosmosFullNode], cache: CometCache, before: Observed | None = None
) -> Observed | None:
    """Read everything again, with what other controllers have written meanwhile."""
    crd = await ctx.client.find(CosmosFullNode, *ctx.request)
    if crd is None or crd.metadata.uid != ctx.obj.metadata.uid:
        return None
    return await observe(crd, ctx.client, cache, ctx.clock.now(), before)


def candidates(crd: CosmosFullNode, schedules: Iterable[ScheduledVolumeSnapshot]) -> frozenset[str]:
    """The pods that a schedule has taken away; one that is gone or suspended has none."""
    held = crd.status.scheduled_snapshot_status if crd.status else {}
    living = {each.candidate_key for each in schedules if not each.spec.suspend}
    return frozenset(each.pod_candidate for key, each in held.items() if key in living)
