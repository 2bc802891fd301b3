"""One pass over a provider: does it answer, does it accept us, who uses it.

observe ──ProviderObserved──> plan ──Conclusion──> conclude
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.infra.api import AnyProvider
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.options import Options
from quintant.operators.infra.provider.observe import ProviderReader
from quintant.operators.infra.provider.observed import ProviderObserved
from quintant.operators.infra.provider.plan import plan
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result

JITTER = 0.1


@dataclass(frozen=True, slots=True)
class ProviderReconciler:
    """Looks at providers."""

    options: Options
    reader: ProviderReader
    metrics: InfraMetrics

    async def __call__(self, provider: AnyProvider, ctx: Context[AnyProvider]) -> Result | None:
        observed = await self.reader.observe(ctx)
        self.metrics.up.labels(ctx.request.namespace, ctx.request.name).set(float(observed.up))
        return await self._conclude(ctx, observed)

    async def cleanup(self, provider: AnyProvider, ctx: Context[AnyProvider]) -> Result | None:
        """Hold a provider for as long as clouds name it."""
        return await self._conclude(ctx, await self.reader.observe(ctx))

    async def _conclude(
        self, ctx: Context[AnyProvider], observed: ProviderObserved
    ) -> Result | None:
        jitter, interval = ctx.random.jitter(1.0, JITTER), self.options.observe_interval
        return await ctx.conclude(plan(observed, interval=interval, jitter=jitter))
