"""syncDeployment: claims ReplicaSets, takes one step of the rollout, reports.

Each step is decided from the sets as they are; the changes it makes wake the Deployment again.
"""

from __future__ import annotations

from datetime import datetime

from quintant.api.apps import Deployment, ReplicaSet
from quintant.cluster.controllers.deployment.history import (
    REVISION,
    described_set,
    new_replica_set,
    sets_to_delete,
    size_annotations,
)
from quintant.cluster.controllers.deployment.replicas import ReplicaSetScale, next_step
from quintant.cluster.controllers.deployment.rollout import Rollout, size
from quintant.cluster.controllers.deployment.status import (
    NOT_CREATED,
    PROGRESSING,
    check_after,
    new_condition,
    report,
    with_condition,
    with_created_condition,
    with_found_condition,
    with_paused_condition,
)
from quintant.cluster.controllers.pods.control import namespace_terminating, retry_delay
from quintant.cluster.controllers.pods.templates import canonical_template
from quintant.cluster.controllers.ref_manager import claim_children
from quintant.core.errors import AlreadyExists, ApiError
from quintant.core.object import replace
from quintant.core.owner import controller_of
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

SCALING = "ScalingReplicaSet"


async def reconcile(deployment: Deployment, ctx: Context[Deployment]) -> Result | None:
    """Bring a Deployment one step further, and tell how it is."""
    now = ctx.clock.now()
    sets = await claim_children(ctx.client, deployment, deployment.spec.selector, ReplicaSet)
    rollout = await _renew(with_paused_condition(Rollout.of(deployment, sets), now), ctx, now)
    next_ = next_step(rollout)
    if next_.create is not None:
        try:
            rollout = await _create(rollout, next_.create, ctx, now)
        except AlreadyExists:
            await _count_collision(deployment, ctx)
            return None
        except ApiError as error:
            if namespace_terminating(error):
                raise
            return await _report_create_failure(rollout, error, ctx, now)
    for scale in next_.scales:
        await _scale(rollout, scale, ctx)
    for each in sets_to_delete(rollout) if next_.tidy else ():
        await ctx.client.delete(each)
    await _number(rollout, ctx)
    status = report(rollout, now, rolling=next_.rolling)
    stored = await ctx.client.set_status(deployment, status)
    return Result(after=check_after(rollout, stored.status, now))


async def _renew(rollout: Rollout, ctx: Context[Deployment], now: datetime) -> Rollout:
    """Describe the new set anew: it may be one that was new before."""
    if rollout.new is None:
        return rollout
    new = described_set(rollout, rollout.new)
    if new != rollout.new:
        new = await ctx.client.patch(new, since=rollout.new)
    return with_found_condition(rollout.with_new_set(new), now)


async def _create(
    rollout: Rollout, replicas: int, ctx: Context[Deployment], now: datetime
) -> Rollout:
    """Make the set of a new revision; one that is there already will do if it is just that."""
    wanted = new_replica_set(rollout, replicas)
    try:
        new = await ctx.client.create(wanted)
    except AlreadyExists:
        there = await ctx.client.find(ReplicaSet, *wanted.key, live=True)
        if there is None or not _same(there, rollout.deployment):
            raise
        return rollout.with_new_set(there)
    if replicas:
        _record_scaling(rollout, new, 0, replicas, ctx)
    return with_created_condition(rollout.with_new_set(new), now)


def _same(replicas: ReplicaSet, deployment: Deployment) -> bool:
    owner = controller_of(replicas)
    ours = owner is not None and owner.uid == deployment.metadata.uid
    return ours and canonical_template(replicas.spec.template) == canonical_template(
        deployment.spec.template
    )


async def _count_collision(deployment: Deployment, ctx: Context[Deployment]) -> None:
    """Count that the name of a set is taken: the next one is made from another hash."""
    count = (deployment.status.collision_count or 0) + 1
    await ctx.client.set_status(deployment, replace(deployment.status, collision_count=count))


async def _report_create_failure(
    rollout: Rollout, error: ApiError, ctx: Context[Deployment], now: datetime
) -> Result:
    """Tell that a set cannot be made, and try again with growing patience."""
    name = new_replica_set(rollout, 0).metadata.name
    text = f'Failed to create new replica set "{name}": {error.message}'
    ctx.event(NOT_CREATED, text, type="Warning")
    condition = new_condition(PROGRESSING, "False", NOT_CREATED, text, now)
    if rollout.deadline is not None:
        rollout = with_condition(rollout, condition)
        await ctx.client.set_status(ctx.obj, rollout.deployment.status)
    held = rollout.deployment.status.conditions
    return Result(after=retry_delay(next((c for c in held if c.type == PROGRESSING), None), now))


async def _scale(rollout: Rollout, scale: ReplicaSetScale, ctx: Context[Deployment]) -> None:
    """Give a set its size, and its idea of the size of the whole."""
    replicas, before = scale.replicas, size(scale.replicas)
    if before == scale.size and not scale.marked:
        return
    annotations = {**replicas.metadata.annotations, **size_annotations(rollout)}
    scaled = replace(
        replicas,
        metadata=replace(replicas.metadata, annotations=annotations),
        spec=replace(replicas.spec, replicas=scale.size),
    )
    await ctx.client.patch(scaled, since=replicas)
    if before != scale.size:
        _record_scaling(rollout, replicas, before, scale.size, ctx)


async def _number(rollout: Rollout, ctx: Context[Deployment]) -> None:
    """Give the Deployment the revision of its new set."""
    revision = rollout.new.metadata.annotations.get(REVISION) if rollout.new is not None else None
    held = ctx.obj.metadata
    if revision is not None and held.annotations.get(REVISION) != revision:
        annotations = {**held.annotations, REVISION: revision}
        numbered = replace(ctx.obj, metadata=replace(held, annotations=annotations))
        # Through the status: to the API, an annotation is part of what is asked for.
        await ctx.client.patch(numbered, since=ctx.obj, sub="status")


def _record_scaling(
    rollout: Rollout, replicas: ReplicaSet, before: int, after: int, ctx: Context[Deployment]
) -> None:
    word, name = "up" if before < after else "down", replicas.metadata.name
    note = f"Scaled {word} replica set {name} from {before} to {after}"
    ctx.event(SCALING, note, action=f"Scale {name} from {before} to {after}")
