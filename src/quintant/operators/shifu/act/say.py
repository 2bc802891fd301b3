"""Says what was concluded: the status if it differs, then the events that it makes true."""

from __future__ import annotations

from quintant.operators.shifu.observe.reader import Observed
from quintant.operators.shifu.plan.conclusion import Conclusion
from quintant.runtime.controller.context import KeyContext
from quintant.runtime.controller.status_writer import StatusWriter


async def say(ctx: KeyContext, observed: Observed, conclusion: Conclusion) -> None:
    """Write the status of a device, over what its agent has written meanwhile."""
    device = observed.device
    if conclusion.over(device.status) != device.status:
        writer = StatusWriter(ctx.client, ctx.random)
        await writer.update(type(device), ctx.request, conclusion.over)
    ctx.tell(device, *conclusion.events)
