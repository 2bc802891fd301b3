"""One pass over a Cluster: observe, ask one question, decide, make at most one call.

    question ──> observe ──Observed──> plan ──PassDecision──> record, call ──Answer──> conclude

The record is fenced, and must have been written before the call: so no `ctx.conclude` ends a pass.
Nothing waits for a provider to finish: a pass ends after its call, and is taken again.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.infra.act.perform import Performer
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.observe.reader import ClusterReader
from quintant.operators.infra.plan import conclude, plan
from quintant.operators.infra.plan.decision import PassDecision
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

# Clusters that were made together are not looked at together; none later than it should be.
JITTER = 0.1


@dataclass(frozen=True, slots=True)
class InfrastructureReconciler:
    """Brings an infrastructure in line with its Cluster."""

    reader: ClusterReader
    performer: Performer

    async def __call__(self, cluster: Cluster, ctx: Context[Cluster]) -> Result | None:
        decision = await self.advance(ctx)
        if decision.after is None:
            return None
        return Result(after=decision.after * ctx.random.uniform(1 - JITTER, 1))

    async def advance(self, ctx: Context[Cluster]) -> PassDecision:
        """One pass; what it ended with."""
        observed, provider = await self.reader.observe(ctx)
        decision = plan(observed, ctx.random.id())
        recorded = await self.performer.record(ctx, observed, decision)
        answer = await self.performer.call(ctx, recorded, decision, provider)
        ended = await self.performer.write(ctx, recorded, conclude(recorded, decision, answer))
        self.reader.memories[ctx.request] = ended.memory or recorded.memory
        return ended
