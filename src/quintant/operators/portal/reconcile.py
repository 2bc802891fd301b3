"""One pass over a PortalExpose: observe, bring its Deployment in line, conclude.

    observe ──Observed──> children ──wanted──> act ──Outcome──> plan ──Conclusion──> ctx.conclude

What is read comes from the caches. A pass that finds everything as it should be writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.operators.portal.act import Seed, act, fresh_seed
from quintant.operators.portal.api import PortalExpose
from quintant.operators.portal.metrics import PortalMetrics
from quintant.operators.portal.observe import TunnelReports, observe
from quintant.operators.portal.options import Options
from quintant.operators.portal.plan import children, plan
from quintant.runtime.reconcile.context import Context
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class PortalExposeReconciler:
    """Brings the tunnels of a PortalExpose in line with it."""

    options: Options
    reports: TunnelReports
    metrics: PortalMetrics
    seed: Seed = fresh_seed

    async def __call__(self, expose: PortalExpose, ctx: Context[PortalExpose]) -> Result | None:
        with self.metrics.measured():
            observed = await observe(ctx, self.options, self.reports)
            outcome = await act(ctx, observed, children(observed, self.options), self.seed)
            conclusion = plan(observed, outcome, self.options)
            self.metrics.lagged(observed, conclusion.status)
            return await ctx.conclude(conclusion)
