"""One pass over a provider: does it answer, does it accept us, who uses it."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.object import Request, replace
from quintant.operators.infra.api import IN_USE, AnyProvider
from quintant.operators.infra.cloud.plan import next_look
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.options import Options
from quintant.operators.infra.plan.decision import SOON
from quintant.operators.infra.provider.observe import ProviderReader
from quintant.operators.infra.provider.plan import plan
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

JITTER = 0.1


def in_use(provider: AnyProvider) -> bool:
    """Whether clouds name a provider."""
    return provider.status is not None and bool(provider.status.clouds)


@dataclass(frozen=True, slots=True)
class ProviderReconciler:
    """Looks at providers."""

    options: Options
    reader: ProviderReader
    metrics: InfraMetrics

    async def __call__(self, provider: AnyProvider, ctx: Context[AnyProvider]) -> Result | None:
        seen = await self.reader.observe(ctx)
        up = seen.failure is None and seen.unresolved is None
        self.metrics.up.labels(ctx.request.namespace, ctx.request.name).set(float(up))
        status = plan(seen)
        await ctx.set_status(status)
        if in_use(replace(provider, status=status)) != (IN_USE in provider.metadata.finalizers):
            return Result(after=SOON)
        after = next_look(status.conditions, seen.now, self.options.observe_interval)
        return Result(after=ctx.random.jitter(after, JITTER))

    async def cleanup(self, provider: AnyProvider, ctx: Context[AnyProvider]) -> Result | None:
        """Hold a provider for as long as clouds name it."""
        seen = await self.reader.observe(ctx)
        await ctx.set_status(plan(seen))
        return Result(after=self.options.observe_interval) if seen.users else None

    def forget(self, request: Request) -> None:
        """Drop the series of a provider that is gone."""
        labels = {"namespace": request.namespace, "provider": request.name}
        self.metrics.up.remove_by_labels(labels)
