"""Mends a network of our own peers that has come apart, on request or, if so set, by itself.

Peers maintain their networks themselves; this is for what they cannot know: that another part of
their network lives. The parts are found by asking everybody whom it sees. Members of the smaller
parts are sent to the largest one, one after another, and merge what they have into its chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.act.probe import split_off
from quintant.operators.klight.api import REPAIR, LightNetwork, Repair
from quintant.operators.klight.observe.view import Observed, Peer
from quintant.operators.klight.plan.join_result import JoinResult, join_result
from quintant.operators.klight.plan.probe import seen_by

STATUS_SECONDS = 2.0


def wanted(shown: LightNetwork | None, default: Repair, missing: dict[str, int]) -> bool:
    """Whether a repair is due: asked for and not done yet, or automatic and needed."""
    policy = (shown.spec.repair if shown is not None else None) or default
    if policy == "off":
        return False
    if policy == "auto" and split_off(missing):
        return True
    return requested(shown) != handled(shown)


def requested(shown: LightNetwork | None) -> str:
    """The last request for a repair; empty if there was none."""
    return shown.metadata.annotations.get(REPAIR, "") if shown is not None else ""


def handled(shown: LightNetwork | None) -> str:
    """The last request that was acted upon."""
    status = shown.status if shown is not None else None
    return (status.repair_handled if status is not None else None) or ""


def parts(views: Mapping[str, set[str]]) -> list[list[str]]:
    """Addresses that see each other, directly or through others; the largest part first."""
    left, found = list(views), []
    while left:
        part, edge = [], [left.pop(0)]
        while edge:
            part.append(here := edge.pop())
            near = [there for there in left if there in views[here] and here in views[there]]
            left = [there for there in left if there not in near]
            edge += near
        found.append(part)
    return sorted(found, key=len, reverse=True)


async def repair(desk: JoinContext, network: Observed) -> None:
    """Bring the parts of a network together, and say how it went."""
    stack = network.stack
    told = await desk.statuses(stack, STATUS_SECONDS)
    ours = [(peer, status) for peer, status in zip(stack, told, strict=True) if status is not None]
    apart = parts({peer.address: seen_by(status) for peer, status in ours})
    strays = [address for part in apart[1:] for address in part]
    by_address = {peer.address: peer for peer, _ in ours}
    base = [peer for peer in stack if apart and peer.address in apart[0]]
    failed = await _gather(desk, [by_address[each] for each in strays], base)
    _report(desk, len(strays), failed, len(stack) - len(ours))
    desk.memory.missing = {}


async def _gather(desk: JoinContext, strays: Sequence[Peer], base: Sequence[Peer]) -> int:
    failed = 0
    for stray in strays:
        desk.ctx.client.fence()
        within = desk.options.join_timeout
        answer = await desk.peers.join(stray.address, base[0].address, within)
        if join_result(answer) is JoinResult.JOINED:
            desk.hand.say(stray.pod, "Repaired", f"brought back through {base[0].address}")
        else:
            failed += 1
            note = f"could not be brought back through {base[0].address}: {answer.text}"
            desk.hand.warn(stray.pod, "RepairFailed", note)
    return failed


def _report(desk: JoinContext, strays: int, failed: int, foreign: int) -> None:
    result = "failed" if failed else "mended" if strays else "nothing"
    desk.metrics.repairs.labels(result).inc()
    said = f"{strays - failed} of {strays} peers were brought back" if strays else "nothing to do"
    if foreign:
        said += f"; {foreign} of another make, or silent, were left alone"
    desk.memory.repairs = said
    desk.ctx.log.info("repaired", network=str(desk.key), strays=strays, failed=failed)
