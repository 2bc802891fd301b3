"""One step of a StatefulJob: look, decide, do, and tell."""

from __future__ import annotations

from quintant.core.errors import ApiError, Conflict
from quintant.core.text import one_line
from quintant.operators.cosmos.stateful_job.api import StatefulJob
from quintant.operators.cosmos.stateful_job.observe import view
from quintant.operators.cosmos.stateful_job.plan import TOLD, JobStep, step, with_condition
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result
from quintant.runtime.events.transitions import transition_events


async def reconcile(owner: StatefulJob, ctx: Context[StatefulJob]) -> Result | None:
    """One step."""
    if owner.deleting:
        return None
    seen = await view(owner, ctx.client, ctx.clock.now())
    done = step(seen)
    try:
        await _act(ctx, done)
    except Conflict:
        raise
    except ApiError as error:
        done = JobStep(seen.status, problem=("Refused", one_line(error.message)))
    after = with_condition(seen, done)
    if after != owner.status:
        await ctx.update_status(lambda _: after)
    ctx.tell(*transition_events(seen.status.conditions, after.conditions, TOLD))
    return None if done.after is None else Result(after=done.after)


async def _act(ctx: Context[StatefulJob], done: JobStep) -> None:
    if done.remove is not None:
        await ctx.client.delete(done.remove)
    if done.claim is not None:
        await ctx.client.create(done.claim)
    if done.job is not None:
        await ctx.client.create(done.job)
