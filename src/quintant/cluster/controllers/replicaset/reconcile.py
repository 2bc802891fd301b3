"""syncReplicaSet, manageReplicas: claims pods, creates or deletes some, reports.

ReplicationControllers are ReplicaSets by another name, as in Kubernetes: one code serves both.

What a turn makes is in the caches when its write returns, so the next turn counts it: no pod is
made twice, however late the watch is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from quintant.api.meta import Condition, condition_of
from quintant.cluster.controllers.pods.control import (
    NOT_CREATED,
    NOT_DELETED,
    create_pod,
    delete_pod,
    retry_delay,
)
from quintant.cluster.controllers.pods.templates import pod_from_template
from quintant.cluster.controllers.pods.views import PodState, next_available, pod_active
from quintant.cluster.controllers.ref_manager import claim_children
from quintant.cluster.controllers.replicaset.ranking import pods_to_delete
from quintant.cluster.controllers.replicaset.status import FAILURE, failure, report
from quintant.cluster.controllers.replicaset.views import R
from quintant.cluster.controllers.slow_start import BURST, run_all, slow_start
from quintant.core.owner import controller_of
from quintant.runtime.reconcile.context import OWNER_INDEX, Context
from quintant.runtime.reconcile.result import Result

CROWD = 100
"""Pods from which on a set rests between its turns: counting them all for each is not free."""
REST_SECONDS = 20e-6
"""How long it rests, for each pod: a set of 2,000 looks at them 25 times a second."""


async def reconcile(replicas: R, ctx: Context[R]) -> Result | None:
    """Bring the pods of a set to its number, and tell how they are."""
    pods = await claim_children(ctx.client, replicas, replicas.spec.selector, PodState, pod_active)
    failed = await _manage(replicas, pods, ctx)
    now, mine = ctx.clock.now(), await ctx.owned(PodState)
    stored = await ctx.client.set_status(replicas, report(replicas, mine, failed, now))
    if failed is not None:
        return Result(after=retry_delay(condition_of(stored.status.conditions, FAILURE), now))
    if len(mine) > CROWD:
        await asyncio.sleep(len(mine) * REST_SECONDS)
    if stored.status.ready_replicas == stored.status.available_replicas:
        return None
    return Result(after=next_available(mine, replicas.spec.min_ready_seconds, now))


async def _manage(replicas: R, pods: Sequence[PodState], ctx: Context[R]) -> Condition | None:
    """Make or delete pods; what went wrong, as the set will tell it."""
    missing = (replicas.spec.replicas or 0) - len(pods)
    if missing > 0:
        pod = pod_from_template(replicas.spec.template, replicas)
        refusal = await slow_start(min(missing, BURST), partial(create_pod, ctx, pod))
        reason = NOT_CREATED
    elif missing < 0:
        chosen = await _surplus(replicas, pods, min(-missing, BURST), ctx)
        refusal = await run_all([partial(delete_pod, ctx, pod) for pod in chosen])
        reason = NOT_DELETED
    else:
        return None
    return failure(reason, refusal.message, ctx.clock.now()) if refusal is not None else None


async def _surplus(
    replicas: R, pods: Sequence[PodState], count: int, ctx: Context[R]
) -> list[PodState]:
    """The pods to delete, with regard to all of the Deployment that the set belongs to."""
    owner = controller_of(replicas)
    related = list(pods)
    if owner is not None and count < len(pods):
        sets = await ctx.client.list(type(replicas), index=(OWNER_INDEX, owner.uid))
        for other in sets:
            if other.metadata.uid != replicas.metadata.uid:
                index = (OWNER_INDEX, other.metadata.uid)
                related += await ctx.client.list(PodState, index=index)
    return pods_to_delete(pods, related, count, ctx.clock.now())
