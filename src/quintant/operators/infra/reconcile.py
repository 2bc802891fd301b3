"""One pass over a Cluster: observe, ask one question, decide, make at most one call.

    observe ──> Observed ──> plan ──> Decision ──> act ──> Decision ──> when to look again

Nothing waits for a provider to finish: a pass ends after its call, and is taken again.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.object import Request
from quintant.operators.infra.act import Performer
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.observe.reader import ClusterReader
from quintant.operators.infra.plan import plan
from quintant.operators.infra.plan.decision import PassDecision
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

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
        seen, provider = await self.reader.observe(ctx)
        decided = plan(seen, ctx.random.id())
        ended = await self.performer.perform(ctx, seen, decided, provider)
        if ended.memory is not None:
            self.reader.memories[ctx.request] = ended.memory
        return ended

    def forget(self, request: Request) -> None:
        """Let go of what is remembered of a Cluster that is gone."""
        self.reader.memories.pop(request, None)
        self.performer.calls.forget(request)
