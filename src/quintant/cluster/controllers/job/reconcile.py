"""syncJob: claims pods, creates or deletes some, counts what ended, and releases it.

Each step is safe to be the last one: what a turn did not come to, the next one finds undone.
"""

from __future__ import annotations

from functools import partial

from quintant.api.batch import Job
from quintant.api.meta import LabelSelector
from quintant.cluster.controllers.job.plan import JobPlan, plan_job
from quintant.cluster.controllers.job.pods import pod_for
from quintant.cluster.controllers.job.report import COMPLETE, JobReport, report
from quintant.cluster.controllers.job.traits import TRACKING, has_tracking_finalizer
from quintant.cluster.controllers.pods.control import create_pod, delete_pod
from quintant.cluster.controllers.pods.views import PodState
from quintant.cluster.controllers.ref_manager import ORPHANS, claim_children, match_children
from quintant.cluster.controllers.slow_start import run_all, slow_start
from quintant.core.errors import ApiError
from quintant.runtime.cache.client import Client
from quintant.runtime.reconcile import finalizer
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

OURS = "kubernetes.io/job-controller"
"""The controller of jobs that name none."""
REFUSED_SECONDS = 10.0
"""How long a job waits after the server refused a pod."""


async def reconcile(job: Job, ctx: Context[Job]) -> Result | None:
    """Bring a job nearer to its end."""
    if job.outcome or (job.spec.managed_by or OURS) != OURS:
        return None
    pods = await _claimed(job, ctx)
    plan = plan_job(job, pods, ctx.clock.now())
    refusal = await _act(job, plan, ctx)
    job_report = report(job, await ctx.owned(PodState), plan, ctx.clock.now())
    await ctx.client.set_status(job, job_report.status)
    _write_status(job_report, ctx)
    for pod in job_report.release:
        await remove_tracking_finalizer(ctx.client, pod)
    if refusal is not None:
        return Result(after=REFUSED_SECONDS)
    return Result(after=0.0 if job_report.release else plan.after)


async def remove_tracking_finalizer(client: Client, pod: PodState) -> None:
    """Take the finalizer off a pod that need not be counted any more."""
    await finalizer.remove_finalizer(client, PodState, pod.metadata, TRACKING)


async def _claimed(job: Job, ctx: Context[Job]) -> list[PodState]:
    """The pods of a job; those that join are held from now on, and those that leave are not."""
    selector = job.spec.selector or LabelSelector()
    orphans = await ctx.client.list(PodState, index=(ORPHANS, job.metadata.namespace))
    claims = match_children(selector, await ctx.owned(PodState), orphans)
    for pod in filter(has_tracking_finalizer, claims.released):
        await remove_tracking_finalizer(ctx.client, pod)
    for pod in claims.adopted:
        if not has_tracking_finalizer(pod):
            await finalizer.add_finalizer(ctx.client, pod, TRACKING)
    return await claim_children(ctx.client, job, selector, PodState)


async def _act(job: Job, plan: JobPlan, ctx: Context[Job]) -> ApiError | None:
    """Delete and make pods; the first refusal, if there is one."""
    if plan.forgiven:
        for pod in filter(has_tracking_finalizer, plan.delete):
            await remove_tracking_finalizer(ctx.client, pod)
    refusal = await run_all([partial(delete_pod, ctx, pod) for pod in plan.delete])
    slots = iter(plan.create)

    async def make() -> ApiError | None:
        return await create_pod(ctx, pod_for(job, next(slots)))

    return refusal or await slow_start(len(plan.create), make)


def _write_status(report: JobReport, ctx: Context[Job]) -> None:
    if report.turned is not None:
        word = "suspended" if report.turned else "resumed"
        ctx.event(word.capitalize(), f"Job {word}")
    if report.ended is None:
        return
    if report.ended.type == COMPLETE:
        ctx.event("Completed", "Job completed")
    else:
        ctx.event(report.ended.reason, report.ended.message, type="Warning")
