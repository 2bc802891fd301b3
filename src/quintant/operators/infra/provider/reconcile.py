"""One pass over a provider: does it answer, does it accept us, who uses it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from quintant.core.object import Request
from quintant.operators.infra.api import AnyProvider, Cloud, GlobalCloud
from quintant.operators.infra.cloud.plan import next_look
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.answers import ProviderError
from quintant.operators.infra.observe.keys import provider_key
from quintant.operators.infra.observe.session import Missing, Resolver
from quintant.operators.infra.options import Options
from quintant.operators.infra.provider.plan import ProviderObserved, plan
from quintant.operators.infra.remote import Providers
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

JITTER = 0.1
CLOUDS_INDEX = "clouds-of-provider"


def in_use(provider: AnyProvider) -> bool:
    """Whether clouds name a provider."""
    return provider.status is not None and bool(provider.status.clouds)


@dataclass(frozen=True, slots=True)
class ProviderReconciler:
    """Looks at providers."""

    options: Options
    resolver: Resolver
    providers: Providers
    metrics: InfraMetrics

    async def __call__(self, provider: AnyProvider, ctx: Context[AnyProvider]) -> Result | None:
        seen = await self._observe(ctx)
        up = seen.failure is None and seen.unresolved is None
        self.metrics.up.labels(ctx.request.namespace, ctx.request.name).set(float(up))
        status = plan(seen)
        await ctx.set_status(status)
        after = next_look(status.conditions, seen.now, self.options.observe_interval)
        return Result(after=ctx.random.jitter(after, JITTER))

    async def cleanup(self, provider: AnyProvider, ctx: Context[AnyProvider]) -> Result | None:
        """Hold a provider for as long as clouds name it."""
        seen = await self._observe(ctx)
        await ctx.set_status(plan(seen))
        return Result(after=self.options.observe_interval) if seen.users else None

    def forget(self, request: Request) -> None:
        """Drop the series of a provider that is gone."""
        labels = {"namespace": request.namespace, "provider": request.name}
        self.metrics.up.remove_by_labels(labels)

    async def _observe(self, ctx: Context[AnyProvider]) -> ProviderObserved:
        provider, client = ctx.obj, ctx.client
        index = (CLOUDS_INDEX, provider_key(provider))
        clouds = [*await client.list(Cloud, index=index)]
        clouds += [*await client.list(GlobalCloud, index=index)]  # type: ignore[list-item]
        users = tuple(sorted(str(each.key) for each in clouds))
        seen = ProviderObserved(provider, ctx.clock.now(), users)
        try:
            self._read_anew(provider)
            session, fingerprint = await self.resolver.session(client, provider)
            seen = replace(seen, fingerprint=fingerprint)
            asked = self.providers(session)
            seen = replace(seen, version=await asked.version())
            await asked.check()
        except Missing as error:
            return replace(seen, unresolved=error.unresolved)
        except ProviderError as error:
            return replace(seen, failure=error.failure)
        return seen

    def _read_anew(self, provider: AnyProvider) -> None:
        im = provider.spec.im
        if im is not None:
            ref = im.credentials_secret_ref
            place = provider.metadata.namespace or ref.namespace
            self.resolver.secrets.forget(Request(ref.name, place))
