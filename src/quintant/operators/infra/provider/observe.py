"""What is read about a provider: whether it answers and accepts us, and who uses it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from quintant.core.object import Request
from quintant.operators.infra.api import AnyProvider, Cloud, GlobalCloud
from quintant.operators.infra.observe.keys import provider_key
from quintant.operators.infra.observe.session import Missing, Resolver
from quintant.operators.infra.observed.answers import ProviderError
from quintant.operators.infra.provider.observed import ProviderObserved
from quintant.operators.infra.remote import Providers
from quintant.runtime.reconcile.context import Context

CLOUDS_INDEX = "clouds-of-provider"


@dataclass(frozen=True, slots=True)
class ProviderReader:
    """Observes providers."""

    resolver: Resolver
    providers: Providers

    async def observe(self, ctx: Context[AnyProvider]) -> ProviderObserved:
        """Everything about a provider; it is asked itself."""
        provider, client = ctx.obj, ctx.client
        index = (CLOUDS_INDEX, provider_key(provider))
        keys = [each.key for each in await client.list(Cloud, index=index)]
        keys += [each.key for each in await client.list(GlobalCloud, index=index)]
        observed = ProviderObserved(provider, ctx.clock.now(), tuple(sorted(map(str, keys))))
        try:
            self._read_anew(provider)
            session, fingerprint = await self.resolver.session(client, provider)
            observed = replace(observed, fingerprint=fingerprint)
            remote = self.providers(session)
            observed = replace(observed, version=await remote.version())
            await remote.check()
        except Missing as error:
            return replace(observed, unresolved=error.unresolved)
        except ProviderError as error:
            return replace(observed, failure=error.failure)
        return observed

    def _read_anew(self, provider: AnyProvider) -> None:
        im = provider.spec.im
        if im is not None:
            ref = im.credentials_secret_ref
            namespace = provider.metadata.namespace or ref.namespace
            self.resolver.secrets.forget(Request(ref.name, namespace))
