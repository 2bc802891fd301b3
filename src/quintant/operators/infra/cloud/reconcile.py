"""One pass over a cloud: is its provider there, does it accept us, who uses it."""

from __future__ import annotations

from dataclasses import dataclass, field

from quintant.core.clock import monotonic
from quintant.core.object import Request, replace
from quintant.operators.infra.api import AnyCloud
from quintant.operators.infra.cloud.act import SecretHolder, keep
from quintant.operators.infra.cloud.observe import CloudReader
from quintant.operators.infra.cloud.plan import at_rest, held_as_used, next_look
from quintant.operators.infra.options import Options
from quintant.operators.infra.plan.decision import SOON
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result

JITTER = 0.1
# Clusters come and go by the hundred; what is said of their number may be so old.
REST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class CloudReconciler:
    """Looks at clouds."""

    options: Options
    reader: CloudReader
    _looked: dict[Request, float] = field(default_factory=dict, repr=False)

    async def __call__(self, cloud: AnyCloud, ctx: Context[AnyCloud]) -> Result | None:
        rest = self._looked.get(ctx.request, -REST_SECONDS) + REST_SECONDS - monotonic()
        if rest > 0 and at_rest(cloud):
            return Result(after=rest)
        seen = await self.reader.observe(ctx)
        status = await keep(ctx, seen, self._secrets)
        self._looked[ctx.request] = monotonic()
        if not held_as_used(replace(cloud, status=status)):
            return Result(after=SOON)
        after = next_look(status.conditions, seen.now, self.options.observe_interval)
        return Result(after=ctx.random.jitter(after, JITTER))

    async def cleanup(self, cloud: AnyCloud, ctx: Context[AnyCloud]) -> Result | None:
        """Hold a cloud for as long as Clusters need it to be deleted themselves."""
        seen = await self.reader.observe(ctx)
        await keep(ctx, seen, self._secrets)
        return Result(after=self.options.observe_interval) if seen.users else None

    def forget(self, request: Request) -> None:
        """Let go of what is remembered of a cloud that is gone."""
        self._looked.pop(request, None)

    @property
    def _secrets(self) -> SecretHolder:
        return SecretHolder(self.reader.resolver.secrets)
