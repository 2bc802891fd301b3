"""One pass over a cloud: is its provider there, does it accept us, who uses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from quintant.core.object import Request
from quintant.operators.infra.api import AnyCloud, Cluster
from quintant.operators.infra.cloud.plan import CloudObserved, next_look, plan
from quintant.operators.infra.observe.answers import ProviderError
from quintant.operators.infra.observe.keys import CLOUD_INDEX, cloud_key
from quintant.operators.infra.observe.session import Missing, Resolver
from quintant.operators.infra.options import Options
from quintant.operators.infra.remote import Providers
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

JITTER = 0.1


def in_use(cloud: AnyCloud) -> bool:
    """Whether Clusters are bound to a cloud."""
    return cloud.status is not None and bool(cloud.status.bound_clusters)


@dataclass(frozen=True, slots=True)
class CloudReconciler:
    """Looks at clouds."""

    options: Options
    resolver: Resolver
    providers: Providers

    async def __call__(self, cloud: AnyCloud, ctx: Context[AnyCloud]) -> Result | None:
        seen = await self._observe(ctx)
        status = plan(seen)
        await ctx.set_status(status)
        after = next_look(status.conditions, seen.now, self.options.observe_interval)
        return Result(after=ctx.random.jitter(after, JITTER))

    async def cleanup(self, cloud: AnyCloud, ctx: Context[AnyCloud]) -> Result | None:
        """Hold a cloud for as long as Clusters need it to be deleted themselves."""
        seen = await self._observe(ctx)
        await ctx.set_status(plan(seen))
        return Result(after=self.options.observe_interval) if seen.users else None

    async def _observe(self, ctx: Context[AnyCloud]) -> CloudObserved:
        cloud, client = ctx.obj, ctx.client
        bound: Sequence[Cluster] = await client.list(Cluster, index=(CLOUD_INDEX, cloud_key(cloud)))
        users = tuple(sorted(str(each.key) for each in bound))
        seen = CloudObserved(cloud, ctx.clock.now(), users)
        try:
            provider = await self.resolver.provider(client, cloud)
            seen = replace(seen, provider=provider)
            self._read_anew(cloud)
            session, fingerprint = await self.resolver.session(client, provider, cloud)
            seen = replace(seen, fingerprint=fingerprint)
            await self.providers(session).check_cloud()
        except Missing as error:
            return replace(seen, unresolved=error.unresolved)
        except ProviderError as error:
            return replace(seen, failure=error.failure)
        return replace(seen, probed=True)

    def _read_anew(self, cloud: AnyCloud) -> None:
        stack = cloud.spec.openstack
        if stack is not None:
            ref = stack.auth.credentials_secret_ref
            place = cloud.metadata.namespace or ref.namespace
            self.resolver.secrets.forget(Request(ref.name, place))
