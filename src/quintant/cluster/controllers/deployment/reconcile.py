"""One turn of a Deployment: claim sets, take one step of the rollout, report.

Each step is decided from the sets as they are; the changes it makes wake the Deployment again.
"""

from __future__ import annotations

from datetime import datetime

from quintant.api.apps import Deployment, ReplicaSet
from quintant.cluster.controllers.deployment.history import (
    REVISION,
    first,
    forgotten,
    marks,
    renewed,
)
from quintant.cluster.controllers.deployment.replicas import Scale, step
from quintant.cluster.controllers.deployment.rollout import Rollout, size
from quintant.cluster.controllers.deployment.status import (
    NOT_CREATED,
    PROGRESSING,
    check_after,
    conditioned,
    created,
    found,
    paused,
    report,
    verdict,
)
from quintant.cluster.controllers.pods.control import patience
from quintant.cluster.controllers.pods.templates import essence
from quintant.cluster.controllers.ref_manager import claimed
from quintant.core.errors import AlreadyExists, ApiError
from quintant.core.object import replace
from quintant.core.owner import controller_of
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

SCALING = "ScalingReplicaSet"


async def reconcile(deployment: Deployment, ctx: Context[Deployment]) -> Result | None:
    """Bring a Deployment one step further, and tell how it is."""
    now = ctx.clock.now()
    sets = await claimed(ctx.client, deployment, deployment.spec.selector, ReplicaSet)
    rollout = await _renew(paused(Rollout.of(deployment, sets), now), ctx, now)
    next_ = step(rollout)
    if next_.create is not None:
        try:
            rollout = await _create(rollout, next_.create, ctx, now)
        except AlreadyExists:
            await _collided(deployment, ctx)
            return None
        except ApiError as error:
            return await _refused(rollout, error, ctx, now)
    for scale in next_.scales:
        await _scale(rollout, scale, ctx)
    for each in forgotten(rollout) if next_.tidy else ():
        await ctx.client.delete(each)
    await _number(rollout, ctx)
    status = report(rollout, now, rolling=next_.rolling)
    stored = await ctx.client.set_status(deployment, status)
    return Result(after=check_after(rollout, stored.status, now))


async def _renew(rollout: Rollout, ctx: Context[Deployment], now: datetime) -> Rollout:
    """Describe the new set anew: it may be one that was new before."""
    if rollout.new is None:
        return rollout
    new = renewed(rollout, rollout.new)
    if new != rollout.new:
        new = await ctx.client.patch(new, since=rollout.new)
    return found(rollout.having(new), now)


async def _create(
    rollout: Rollout, replicas: int, ctx: Context[Deployment], now: datetime
) -> Rollout:
    """Make the set of a new revision; one that is there already will do if it is just that."""
    wanted = first(rollout, replicas)
    try:
        new = await ctx.client.create(wanted)
    except AlreadyExists:
        there = await ctx.client.find(ReplicaSet, *wanted.key, live=True)
        if there is None or not _same(there, rollout.deployment):
            raise
        return rollout.having(there)
    if replicas:
        _tell(rollout, new, 0, replicas, ctx)
    return created(rollout.having(new), now)


def _same(replicas: ReplicaSet, deployment: Deployment) -> bool:
    owner = controller_of(replicas)
    ours = owner is not None and owner.uid == deployment.metadata.uid
    return ours and essence(replicas.spec.template) == essence(deployment.spec.template)


async def _collided(deployment: Deployment, ctx: Context[Deployment]) -> None:
    """Count that the name of a set is taken: the next one is made from another hash."""
    count = (deployment.status.collision_count or 0) + 1
    await ctx.client.set_status(deployment, replace(deployment.status, collision_count=count))


async def _refused(
    rollout: Rollout, error: ApiError, ctx: Context[Deployment], now: datetime
) -> Result:
    """Tell that a set cannot be made, and try again with growing patience."""
    name = first(rollout, 0).metadata.name
    text = f'Failed to create new replica set "{name}": {error.message}'
    ctx.event(NOT_CREATED, text, type="Warning")
    condition = verdict(PROGRESSING, "False", NOT_CREATED, text, now)
    if rollout.deadline is not None:
        rollout = conditioned(rollout, condition)
        await ctx.client.set_status(ctx.obj, rollout.deployment.status)
    held = rollout.deployment.status.conditions
    return Result(after=patience(next((c for c in held if c.type == PROGRESSING), None), now))


async def _scale(rollout: Rollout, scale: Scale, ctx: Context[Deployment]) -> None:
    """Give a set its size, and its idea of the size of the whole."""
    replicas, before = scale.replicas, size(scale.replicas)
    if before == scale.size and not scale.marked:
        return
    annotations = {**replicas.metadata.annotations, **marks(rollout)}
    scaled = replace(
        replicas,
        metadata=replace(replicas.metadata, annotations=annotations),
        spec=replace(replicas.spec, replicas=scale.size),
    )
    await ctx.client.patch(scaled, since=replicas)
    if before != scale.size:
        _tell(rollout, replicas, before, scale.size, ctx)


async def _number(rollout: Rollout, ctx: Context[Deployment]) -> None:
    """Give the Deployment the revision of its new set."""
    revision = rollout.new.metadata.annotations.get(REVISION) if rollout.new is not None else None
    held = ctx.obj.metadata
    if revision is not None and held.annotations.get(REVISION) != revision:
        annotations = {**held.annotations, REVISION: revision}
        numbered = replace(ctx.obj, metadata=replace(held, annotations=annotations))
        # Through the status: to the API, an annotation is part of what is asked for.
        await ctx.client.patch(numbered, since=ctx.obj, sub="status")


def _tell(
    rollout: Rollout, replicas: ReplicaSet, before: int, after: int, ctx: Context[Deployment]
) -> None:
    word, name = "up" if before < after else "down", replicas.metadata.name
    note = f"Scaled {word} replica set {name} from {before} to {after}"
    ctx.event(SCALING, note, action=f"Scale {name} from {before} to {after}")
