"""Says what was concluded: the status if it differs, then the events that it makes true."""

from __future__ import annotations

from typing import Any

from quintant.operators.shifu.api.device import EdgeDevice, UpstreamEdgeDevice
from quintant.operators.shifu.observe.device_view import (
    DeviceView,
    ShifuDevice,
    UpstreamShifuDevice,
    said_digest,
)
from quintant.operators.shifu.observe.reader import Observed
from quintant.operators.shifu.plan.conclusion import Conclusion
from quintant.runtime.controller.context import KeyContext
from quintant.runtime.controller.result import Result
from quintant.runtime.controller.status_writer import StatusWriter

WHOLE: dict[type[DeviceView], type[Any]] = {
    ShifuDevice: EdgeDevice,
    UpstreamShifuDevice: UpstreamEdgeDevice,
}
"""What is written, by what is held of it."""
_LATER = Result(after=1.0, priority=0)
"""Behind every evacuation: those are urgent."""


async def say(ctx: KeyContext, observed: Observed, conclusion: Conclusion) -> None:
    """Write the status of a device, over what its agent has written meanwhile."""
    device = observed.device
    if said_digest(conclusion.over(device.status)) != device.said:
        writer, kind = StatusWriter(ctx.client, ctx.random), WHOLE[type(device)]
        await writer.update(kind, ctx.request, conclusion.over)
    ctx.tell(device, *conclusion.events)


def say_later(ctx: KeyContext, observed: Observed, conclusion: Conclusion) -> Result:
    """Say in a later pass what became of a device that leaves a lost node: others wait to leave."""
    ctx.tell(observed.device, *conclusion.events)
    return _LATER
