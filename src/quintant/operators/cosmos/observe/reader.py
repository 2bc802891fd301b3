"""How a CosmosFullNode is read: from caches only, that of the nodes' answers too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from quintant.api.core import Service
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import PersistentVolumeClaim
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.api.views import NodeConfig, NodePod
from quintant.operators.cosmos.observe.triggers import FULL_NODE_INDEX, OWNER
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.remote.comet import CometCache
from quintant.operators.cosmos.rules import validate, warn
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile.context import Context


async def observe(
    full_node: CosmosFullNode,
    client: Client,
    cache: CometCache,
    now: datetime,
    before: Observed | None = None,
) -> Observed:
    """Read everything about a CosmosFullNode; `before` again, if that was just now the same."""
    namespace, owned = full_node.metadata.namespace, (OWNER, full_node.metadata.uid)
    pods = await client.list(NodePod, namespace, index=owned)
    copied = FULL_NODE_INDEX, str(full_node.key)
    schedules = await client.list(ScheduledVolumeSnapshot, namespace, index=copied)
    reads = reads_snapshots(full_node)
    items = {pod.metadata.uid: cache.find(pod.metadata.uid) for pod in pods}
    found = Observed(
        full_node=full_node,
        pods=tuple(pods),
        configs=tuple(await client.list(NodeConfig, namespace, index=owned)),
        services=tuple(await client.list(Service, namespace, index=owned)),
        claims=tuple(await client.list(PersistentVolumeClaim, namespace, index=owned)),
        snapshots=tuple(await client.list(VolumeSnapshot, namespace)) if reads else (),
        items={uid: item for uid, item in items.items() if item is not None},
        away=candidates(full_node, schedules),
        now=now,
    )
    if before is not None and found.same_as(before):
        return before
    errors = tuple(validate(full_node))
    return replace(found, errors=errors, warnings=() if errors else tuple(warn(full_node)))


async def reread(
    ctx: Context[CosmosFullNode], cache: CometCache, before: Observed | None = None
) -> Observed | None:
    """Read everything again, with what other controllers have written meanwhile."""
    full_node = await ctx.client.find(CosmosFullNode, *ctx.request)
    if full_node is None or full_node.metadata.uid != ctx.obj.metadata.uid:
        return None
    return await observe(full_node, ctx.client, cache, ctx.clock.now(), before)


def reads_snapshots(full_node: CosmosFullNode) -> bool:
    """Whether copies matter: a namespace may have thousands, and every reconcile reads them."""
    spec, common = full_node.spec, full_node.spec.volume_claim_template
    own = [each.volume_claim_template for each in spec.instance_overrides.values()]
    filled = (common.data_source, common.auto_data_source)
    others = ((each.data_source, each.auto_data_source) for each in own if each is not None)
    before = any(each.snapshot_before for each in spec.chain.versions)
    return before or any(filled) or any(map(any, others))


def candidates(
    full_node: CosmosFullNode, schedules: Iterable[ScheduledVolumeSnapshot]
) -> frozenset[str]:
    """The pods that a schedule has taken away; one that is gone or suspended has none."""
    held = full_node.status.scheduled_snapshot_status if full_node.status else {}
    living = {each.candidate_key for each in schedules if not each.spec.suspend}
    return frozenset(each.pod_candidate for key, each in held.items() if key in living)
