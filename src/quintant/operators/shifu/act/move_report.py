"""Writes the events of moves, and knows of each whether the API server has it.

The recorder of the runtime writes behind, and forgets what it could not write with its process. A
move is reported however long that takes.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from quintant.api.events import Event
from quintant.core.clock import find_timestamp
from quintant.core.errors import AlreadyExists, ApiError, Invalid, TransportError
from quintant.operators.shifu.api.device import UnreportedMove
from quintant.operators.shifu.api.names import MANAGER
from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.observed.device_view import DeviceView
from quintant.operators.shifu.observed.outcome import WriteOutcome
from quintant.operators.shifu.plan.device import Choice
from quintant.operators.shifu.plan.move_report import event_type, moves_to_report
from quintant.runtime.events.series import (
    REASON_BYTES,
    EventKey,
    build_event,
    object_reference,
    truncate,
)
from quintant.runtime.reconcile.context import KeyContext

_STAMP_BYTES = 8


async def report_moves(
    ctx: KeyContext, observed: Observed, choice: Choice, outcome: WriteOutcome
) -> WriteOutcome:
    """Write the events of moves that are due; the outcome, with what the server has of them."""
    reported, unreported = set[str](), list[UnreportedMove]()
    for move in moves_to_report(observed, choice):
        try:
            await ctx.client.create(_event(ctx, observed.device, move))
        except (AlreadyExists, Invalid) as error:
            # There already, or never to be: a person has changed what stands in the status.
            ctx.log.debug("event not written", why=str(error))
        except (ApiError, TransportError) as error:
            ctx.log.warning("event not taken, and kept", reason=move.reason, why=str(error))
            unreported.append(move)
            continue
        reported.add(move.id)
    return replace(outcome, reported=frozenset(reported), unreported=tuple(unreported))


def _event(ctx: KeyContext, device: DeviceView, move: UnreportedMove) -> Event:
    about, reason = object_reference(device), truncate(move.reason, REASON_BYTES)
    key = EventKey(event_type(reason), reason, reason, MANAGER, MANAGER, about, None)
    moment = (find_timestamp(move.at) if move.at else None) or ctx.clock.now()
    digest = sha256(f"{device.metadata.uid}/{move.id}".encode("utf-8", "replace")).digest()
    return build_event(key, move.message, moment, int.from_bytes(digest[:_STAMP_BYTES]))
