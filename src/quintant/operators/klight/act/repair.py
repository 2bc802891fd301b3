"""Brings the parts of a network of our own peers together; `plan.repair` says when and whom."""

from __future__ import annotations

from collections.abc import Sequence

from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.observe.view import Observed, PeerView
from quintant.operators.klight.plan.join_result import JoinResult, join_result
from quintant.operators.klight.plan.probe import seen_by
from quintant.operators.klight.plan.repair import strays, summary

STATUS_SECONDS = 2.0


async def repair(context: JoinContext, observed: Observed) -> None:
    """Bring the parts of a network together, and say how it went."""
    told = await context.statuses(observed.stack, STATUS_SECONDS)
    ours = {peer.address: (peer, status) for peer, status in told if status is not None}
    lost, base = strays({address: seen_by(status) for address, (_, status) in ours.items()})
    contact = next((peer.address for peer in observed.stack if peer.address in base), "")
    failed = await _gather(context, [ours[address][0] for address in lost], contact)
    result, context.memory.repaired = summary(len(lost), failed, len(told) - len(ours))
    context.metrics.repairs.labels(result).inc()
    context.ctx.log.info("repaired", network=str(context.key), strays=len(lost), failed=failed)
    context.memory.missing = {}


async def _gather(context: JoinContext, lost: Sequence[PeerView], contact: str) -> int:
    """Send everybody who is lost to a contact; how many did not get there."""
    failed = 0
    for peer in lost:
        context.ctx.client.fence()
        answer = await context.peers.join(peer.address, contact, context.options.join_timeout)
        if join_result(answer) is JoinResult.JOINED:
            context.writer.say(peer.pod, "Repaired", f"brought back through {contact}")
        else:
            failed += 1
            note = f"could not be brought back through {contact}: {answer.text}"
            context.writer.warn(peer.pod, "RepairFailed", note)
    return failed
