"""Writes the status of a device if it differs from what is known of it, then records its events.

Of a status we hold only a digest, so `ctx.conclude` cannot compare it; and the whole object, which
is written, is another kind than the view that is held.
"""

from __future__ import annotations

from typing import Any

from quintant.operators.shifu.api.device import EdgeDevice, EdgeDeviceStatus, UpstreamEdgeDevice
from quintant.operators.shifu.observed.device_view import (
    DeviceView,
    ShifuDevice,
    UpstreamShifuDevice,
    digest_status,
)
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result
from quintant.runtime.reconcile.status_writer import StatusWriter

WHOLE: dict[type[DeviceView], type[Any]] = {
    ShifuDevice: EdgeDevice,
    UpstreamShifuDevice: UpstreamEdgeDevice,
}
"""What is written, by what is held of it."""


async def write_status(
    ctx: KeyContext, device: DeviceView, conclusion: Conclusion[EdgeDeviceStatus]
) -> Result | None:
    """Write the status of a device, over what its agent has written meanwhile; when to look again.

    Without a `change` the status stays as it is, and only the events are recorded.
    """
    change = conclusion.change
    if change is not None and digest_status(change(device.status)) != device.status_digest:
        writer = StatusWriter(ctx.client, ctx.random)
        await writer.update(WHOLE[type(device)], ctx.request, change)
    ctx.tell(device, *conclusion.events)
    return conclusion.result()
