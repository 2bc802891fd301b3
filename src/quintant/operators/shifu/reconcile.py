"""One pass over a device, in the order of the design: schedule, add, compose, create.

    observe ──> Observed ──> choose ──> bind ──> compose ──> act ──> conclude ──> say

What is read comes from the caches. A pass that finds everything as it should be writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.core.errors import ApiError
from quintant.core.object import Request
from quintant.operators.shifu.act.children import delete_orphans, write_children
from quintant.operators.shifu.act.say import say, say_later
from quintant.operators.shifu.metrics import ShifuMetrics
from quintant.operators.shifu.observe.reader import Leftovers, observe
from quintant.operators.shifu.observe.topology import Topology
from quintant.operators.shifu.plan.children import compose
from quintant.operators.shifu.plan.conclusion import conclude
from quintant.operators.shifu.plan.device import EVACUATED, choose
from quintant.runtime.controller.context import KeyContext
from quintant.runtime.controller.result import Result


@dataclass(frozen=True, slots=True)
class DeviceReconciler:
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
                choice = choose(observed, topology.place, options)
            if choice.avoid is not None:
                topology.avoid(request, *choice.avoid)
            if choice.decision is not None:
                topology.intend(request, choice.decision, choice.cause)
            wanted = compose(observed, choice, options, topology.tolerations(choice.node))
            await write_children(ctx.client, observed, wanted)
            self.metrics.chose(choice, observed)
            conclusion = conclude(observed, choice, options)
            if choice.cause == EVACUATED:
                return say_later(ctx, observed, conclusion)
            await say(ctx, observed, conclusion)
        except ApiError:
            self.metrics.write_errors.inc()
            raise
        return conclusion.again
