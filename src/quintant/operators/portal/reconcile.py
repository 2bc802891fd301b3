"""One pass over a PortalExpose: observe, bring its Deployment in line, say what is so.

    observe ──> Observed ──> children ──> act ──> Outcome ──> plan ──> act

What is read comes from the caches. A pass that finds everything as it should be writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.portal.act import Seed, fresh_seed, write_children
from quintant.operators.portal.api import PortalExpose
from quintant.operators.portal.metrics import PortalMetrics
from quintant.operators.portal.observe import TunnelReports, observe
from quintant.operators.portal.options import Options
from quintant.operators.portal.plan import children, plan
from quintant.runtime.controller.context import Context
from quintant.runtime.controller.result import Result


@dataclass(frozen=True, slots=True)
class Reconcile:
    """Brings the tunnels of a PortalExpose in line with it."""

    options: Options
    reports: TunnelReports
    metrics: PortalMetrics
    seed: Seed = fresh_seed

    async def __call__(self, expose: PortalExpose, ctx: Context[PortalExpose]) -> Result | None:
        with self.metrics.measured():
            observed = await observe(ctx, self.options, self.reports)
            wanted = children(observed, self.options.tunnels)
            outcome = await write_children(ctx, observed, wanted, self.seed)
            decided = plan(observed, outcome, self.options)
            if decided.status != expose.status:
                await ctx.set_status(decided.status)
                self.metrics.lagged(observed, decided.status)
                ctx.tell(*decided.events)
            if outcome.error is not None:
                raise outcome.error
            return decided.again
