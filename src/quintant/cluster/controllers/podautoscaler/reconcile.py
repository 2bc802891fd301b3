"""HorizontalController: reads a target's scale and pods, and makes it as large as is planned.

Each autoscaler is looked at every quarter of a minute, whatever happens: usage changes without a
word. What is remembered between two looks is in `memories`.
"""

from __future__ import annotations

from msgspec import Struct, structs

from quintant.api.meta import ConditionClaim, set_conditions
from quintant.cluster.controllers.podautoscaler.behavior import ABLE, ScaleHistory
from quintant.cluster.controllers.podautoscaler.metrics_client import observe_pods
from quintant.cluster.controllers.podautoscaler.plan import (
    ScalePlan,
    plan_bounds,
    plan_metrics,
    plan_refused,
    plan_rescaled,
    plan_unselected,
    planned_status,
)
from quintant.cluster.controllers.podautoscaler.scale_client import (
    ScaleClient,
    ScaleTarget,
    ScaleUnavailable,
)
from quintant.cluster.controllers.podautoscaler.selectors import ambiguous_problem, parse_problem
from quintant.cluster.controllers.podautoscaler.views import Autoscaler
from quintant.core.errors import ApiError
from quintant.core.object import Request, replace
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.keyed_state import KeyedState
from quintant.runtime.reconcile.result import Result

SYNC_SECONDS = 15.0
"""How often an autoscaler is looked at (--horizontal-pod-autoscaler-sync-period)."""
_FAILED_GET = "FailedGetScale"


class AutoscalerMemory(Struct, frozen=True):
    """What is remembered of an autoscaler: its pods' selector, and what it proposed and did."""

    selector: str = ""
    history: ScaleHistory = ScaleHistory()


class HorizontalController:
    """Keeps targets as large as their autoscalers say."""

    def __init__(self) -> None:
        self.memories: KeyedState[AutoscalerMemory] = KeyedState(AutoscalerMemory)
        self._scales = ScaleClient()

    async def __call__(self, autoscaler: Autoscaler, ctx: Context[Autoscaler]) -> Result:
        """Look at one autoscaler, and come again."""
        reference, namespace = autoscaler.spec.scale_target_ref, autoscaler.metadata.namespace
        try:
            target = await self._scales.get(ctx.client, namespace, reference)
        except ScaleUnavailable as error:
            await _write_failure(str(error), ctx)
        else:
            await self._scale(target, ctx)
        return Result(after=SYNC_SECONDS)

    async def _scale(self, target: ScaleTarget, ctx: Context[Autoscaler]) -> None:
        current = target.scale.spec.replicas
        history = self.memories[ctx.request].history.begun(current, ctx.clock.now())
        plan = plan_bounds(ctx.obj, current, history)
        if plan is None:
            plan = await self._plan_metrics(target, history, ctx)
        if plan.replicas not in (None, current):
            plan = await self._rescale(target, plan, ctx)
        self.memories[ctx.request] = structs.replace(
            self.memories[ctx.request], history=plan.history
        )
        status = planned_status(ctx.obj, current, plan, ctx.clock.now())
        await ctx.client.set_status(ctx.obj, status)
        ctx.tell(*plan.events)

    async def _plan_metrics(
        self, target: ScaleTarget, history: ScaleHistory, ctx: Context[Autoscaler]
    ) -> ScalePlan:
        selector, namespace = target.scale.status.selector, ctx.request.namespace
        problem = parse_problem(selector)
        if problem is not None:
            return plan_unselected(problem, history)
        replicas = target.scale.spec.replicas
        observed = await observe_pods(ctx.client, namespace, selector, replicas)
        self._remember(ctx.request, selector=selector)
        problem = ambiguous_problem(selector, observed.pods, self._selectors(namespace))
        if problem is not None:
            return plan_unselected(problem, history)
        return plan_metrics(ctx.obj, observed, history, ctx.clock.now())

    async def _rescale(
        self, target: ScaleTarget, plan: ScalePlan, ctx: Context[Autoscaler]
    ) -> ScalePlan:
        assert plan.replicas is not None, "there is a size to scale to"
        try:
            await self._scales.update(ctx.client, target, plan.replicas)
        except ApiError as error:
            return plan_refused(plan, error.message)
        return plan_rescaled(plan, ctx.obj, target.scale.spec.replicas, ctx.clock.now())

    def _remember(self, request: Request, **changes: str | ScaleHistory) -> None:
        self.memories[request] = structs.replace(self.memories[request], **changes)

    def _selectors(self, namespace: str) -> dict[Request, str]:
        keys = [key for key in self.memories if key.namespace == namespace]
        return {key: self.memories[key].selector for key in keys}


async def _write_failure(why: str, ctx: Context[Autoscaler]) -> None:
    """Say that a target's scale cannot be read."""
    words = f"the HPA controller was unable to get the target's current scale: {why}"
    claim = ConditionClaim(ABLE, False, _FAILED_GET, words)
    before = ctx.obj.status
    conditions = set_conditions(before.conditions, (claim,), now=ctx.clock.now())
    await ctx.client.set_status(ctx.obj, replace(before, conditions=conditions))
    ctx.event(_FAILED_GET, why, type="Warning")
