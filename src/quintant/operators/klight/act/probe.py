"""Checks the members of a network from time to time, and takes the dead off its stack.

One failed check makes a suspect, which nobody is sent to. A member that fails for `down-after` is
down: its record is cleared, and it joins anew when it is back. The contact, if it is one of our own
peers, is also asked whom it sees: a live member that it does not see has split off.
"""

from __future__ import annotations

import math

from quintant.core.clock import monotonic
from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.observe.view import Peer
from quintant.operators.klight.plan.join_result import Health
from quintant.operators.klight.plan.probe import seen_by

PROBE_SECONDS = 1.0
"""How long a member may take to answer a check."""
SECOND_SECONDS = 2.0
"""How long it may take when it is asked again."""
JITTER = 0.2
"""How far checks are spread, so that networks are not all checked at once."""
SPLIT_SWEEPS = 2
"""A member must be missing from the contact's view so often in a row: views take time to spread."""


async def sweep(desk: JoinContext, stack: tuple[Peer, ...]) -> None:
    """Check every member, if it is time to."""
    memory, options = desk.memory, desk.options
    if monotonic() < memory.sweep:
        return
    memory.sweep = monotonic() + desk.ctx.random.jitter(options.probe_interval, JITTER)
    found = await _looked(desk, stack)
    alive = [peer for peer, health in zip(stack, found, strict=True) if health is Health.SERVING]
    for peer, health in zip(stack, found, strict=True):
        await _judge(desk, peer, health)
    await _compare(desk, alive)


async def _looked(desk: JoinContext, stack: tuple[Peer, ...]) -> list[Health]:
    """How the members are. The silent are asked twice: we may be the ones who are slow."""
    found = await desk.checks(stack, PROBE_SECONDS)
    silent = [peer for peer, health in zip(stack, found, strict=True) if health is Health.SILENT]
    second = await desk.checks(silent, SECOND_SECONDS)
    told = dict(zip((peer.uid for peer in silent), second, strict=True))
    return [told.get(peer.uid, health) for peer, health in zip(stack, found, strict=True)]


async def _judge(desk: JoinContext, peer: Peer, health: Health) -> None:
    memory = desk.memory
    if health is Health.SERVING:
        memory.misses.pop(peer.uid, None)
        return
    desk.metrics.failures.inc()
    misses = memory.misses[peer.uid] = memory.misses.get(peer.uid, 0) + 1
    if misses >= patience(desk.options.down_after, desk.options.probe_interval):
        await desk.hand.clear(peer.pod)
        note = f"{peer.address} is {health.value} for {desk.options.down_after:g} s; dropped"
        desk.hand.warn(peer.pod, "PeerDown", note)


def patience(down_after: float, interval: float) -> int:
    """After how many failed checks in a row a member is down."""
    return max(1, math.ceil(down_after / interval))


async def _compare(desk: JoinContext, alive: list[Peer]) -> None:
    """Note who is not in the contact's view."""
    memory = desk.memory
    contact = next((peer for peer in alive if peer.uid not in memory.foreign), None)
    status = await desk.peers.status(contact.address, PROBE_SECONDS) if contact else None
    if contact is None or status is None:
        # Silence and another make look alike: once all were tried, they are tried again.
        memory.foreign = memory.foreign | {contact.uid} if contact is not None else set()
        memory.missing, memory.head, memory.height = {}, "", 0
        return
    memory.head, memory.height = status.head, status.height
    seen = seen_by(status)
    lost = [peer for peer in alive if peer.uid != contact.uid and peer.address not in seen]
    memory.missing = {peer.uid: memory.missing.get(peer.uid, 0) + 1 for peer in lost}


def split_off(missing: dict[str, int]) -> set[str]:
    """Those who are surely not in the contact's network, by uid."""
    return {uid for uid, sweeps in missing.items() if sweeps >= SPLIT_SWEEPS}
