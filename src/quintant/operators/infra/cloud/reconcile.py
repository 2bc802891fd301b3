"""One pass over a cloud: is its provider there, does it accept us, who uses it.

    observe ──CloudObserved──> record ──CloudStatus──> plan ──CloudPlan──> act ──> conclude

The status is written before Secrets are held: what it names as held is never forgotten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from quintant.core.clock import monotonic
from quintant.operators.infra.api import AnyCloud
from quintant.operators.infra.cloud.act import act
from quintant.operators.infra.cloud.observe import CloudReader
from quintant.operators.infra.cloud.plan import REST_SECONDS, plan, record, rest
from quintant.operators.infra.options import Options
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.keyed_state import KeyedState
from quintant.runtime.reconcile.result import Result

JITTER = 0.1


def _at_once() -> float:
    return -math.inf


@dataclass(frozen=True, slots=True)
class CloudReconciler:
    """Looks at clouds, and holds their Secrets; `due` has until when each may rest."""

    options: Options
    reader: CloudReader
    due: KeyedState[float] = field(default_factory=lambda: KeyedState(_at_once))

    async def __call__(self, cloud: AnyCloud, ctx: Context[AnyCloud]) -> Result | None:
        wait = rest(cloud, self.due[ctx.request], monotonic())
        if wait > 0:
            return Result(after=wait)
        result = await self.cleanup(cloud, ctx)
        self.due[ctx.request] = monotonic() + REST_SECONDS
        return result

    async def cleanup(self, cloud: AnyCloud, ctx: Context[AnyCloud]) -> Result | None:
        """One pass; a cloud that is going is held for as long as Clusters need it."""
        observed = await self.reader.observe(ctx)
        # By the newest status: an old one may lack what is held, and that would be held for ever.
        written = await ctx.update_status(lambda before: record(observed, before))
        jitter, interval = ctx.random.jitter(1.0, JITTER), self.options.observe_interval
        planned = plan(
            observed, written or record(observed, None), interval=interval, jitter=jitter
        )
        await act(ctx, planned, self.reader.resolver.secrets)
        return await ctx.conclude(planned.conclusion)
