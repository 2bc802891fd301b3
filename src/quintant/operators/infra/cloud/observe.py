"""What is read about a cloud: its provider, whether both accept us, and who uses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from quintant.core.object import Request
from quintant.operators.infra.api import AnyCloud, AnyProvider, Cluster
from quintant.operators.infra.cloud.observed import CloudObserved
from quintant.operators.infra.observe.keys import (
    CLOUD_INDEX,
    cloud_secrets,
    provider_secrets,
)
from quintant.operators.infra.observe.session import Missing, Resolver
from quintant.operators.infra.observed.answers import ProviderError
from quintant.operators.infra.observed.session import cloud_key
from quintant.operators.infra.remote import Providers
from quintant.runtime.reconcile.context import Context


@dataclass(frozen=True, slots=True)
class CloudReader:
    """Observes clouds."""

    resolver: Resolver
    providers: Providers

    async def observe(self, ctx: Context[AnyCloud]) -> CloudObserved:
        """Everything about a cloud; it is asked itself, through its provider."""
        cloud, client = ctx.obj, ctx.client
        bound: Sequence[Cluster] = await client.list(Cluster, index=(CLOUD_INDEX, cloud_key(cloud)))
        users = tuple(sorted(str(each.key) for each in bound))
        observed = CloudObserved(cloud, ctx.clock.now(), users)
        try:
            provider = await self.resolver.provider(client, cloud)
            observed = replace(observed, provider=provider, needed=self._needed(provider, cloud))
            self._read_anew(cloud)
            session, fingerprint = await self.resolver.session(client, provider, cloud)
            observed = replace(observed, fingerprint=fingerprint)
            await self.providers(session).check_cloud()
        except Missing as error:
            return replace(observed, unresolved=error.unresolved)
        except ProviderError as error:
            return replace(observed, failure=error.failure)
        return replace(observed, probed=True)

    def _needed(self, provider: AnyProvider, cloud: AnyCloud) -> tuple[str, ...]:
        """The Secrets without which nothing can be asked for here; global ones if allowed."""
        namespace = self.resolver.options.global_secrets_namespace
        owners = ((provider, provider_secrets(provider)), (cloud, cloud_secrets(cloud)))
        needed = {
            key
            for owner, keys in owners
            for key in keys
            if owner.metadata.namespace or key.partition("/")[0] == (namespace or None)
        }
        return tuple(sorted(needed))

    def _read_anew(self, cloud: AnyCloud) -> None:
        stack = cloud.spec.openstack
        if stack is not None:
            ref = stack.auth.credentials_secret_ref
            namespace = cloud.metadata.namespace or ref.namespace
            self.resolver.secrets.forget(Request(ref.name, namespace))
