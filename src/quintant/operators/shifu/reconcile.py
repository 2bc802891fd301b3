"""One pass over a device, in the order of the design: schedule, add, compose, create.

    observe ──> choose ──> topology.intend ──> compose ──> act, report ──> conclude ──> write_status

An intent is bound before it is written, so that the next device's choice counts it.

What is read comes from the caches. A pass that finds everything as it should be writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from quintant.core.errors import ApiError
from quintant.core.object import Request
from quintant.operators.shifu.act.children import delete_orphans, write_children
from quintant.operators.shifu.act.move_report import report_moves
from quintant.operators.shifu.act.status import write_status
from quintant.operators.shifu.metrics import ShifuMetrics
from quintant.operators.shifu.observe.reader import observe
from quintant.operators.shifu.observed.device import Leftovers
from quintant.operators.shifu.plan.children import compose
from quintant.operators.shifu.plan.conclusion import conclude
from quintant.operators.shifu.plan.device import choose
from quintant.operators.shifu.topology.topology import Topology
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result


@dataclass(frozen=True, slots=True)
class EdgeDeviceReconciler:
    """Gives every device its deviceShifu, where it belongs."""

    topology: Topology
    metrics: ShifuMetrics

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        topology, options = self.topology, self.topology.options
        observed = await observe(ctx, topology)
        try:
            if isinstance(observed, Leftovers):
                topology.forget(request)
                await delete_orphans(ctx.client, topology.kind, request, observed.objects)
                return None
            with self.metrics.scheduling():
                choice = choose(observed, partial(topology.find_placement, key=request), options)
            if choice.avoid is not None:
                topology.avoid(request, *choice.avoid)
            if choice.decision is not None:
                topology.intend(request, choice.decision, choice.cause)
            wanted = compose(observed, choice, options, topology.tolerations(choice.node))
            outcome = await write_children(ctx.client, observed, wanted)
            outcome = await report_moves(ctx, observed, choice, outcome)
            self.metrics.chose(choice, observed)
            conclusion = conclude(observed, choice, options, outcome)
            return await write_status(ctx, observed.device, conclusion)
        except ApiError:
            self.metrics.write_errors.inc()
            raise
