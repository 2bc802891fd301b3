"""Checks the members of a network from time to time, and takes the dead off its stack.

The contact, if it is one of our own peers, is also asked whom it sees. `plan.probe` says what the
answers mean.
"""

from __future__ import annotations

from quintant.core.clock import monotonic
from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.observe.view import PeerView
from quintant.operators.klight.plan import probe
from quintant.operators.klight.plan.join_result import PeerHealth

PROBE_SECONDS = 1.0
"""How long a member may take to answer a check."""
SECOND_SECONDS = 2.0
"""How long it may take when it is asked again."""
JITTER = 0.2
"""How far checks are spread, so that networks are not all checked at once."""


async def probe_members(context: JoinContext, stack: tuple[PeerView, ...]) -> None:
    """Check every member, if it is time to."""
    memory, options = context.memory, context.options
    if monotonic() < memory.next_probe:
        return
    memory.next_probe = monotonic() + context.ctx.random.jitter(options.probe_interval, JITTER)
    found = await _looked(context, stack)
    alive = [peer for peer, health in found if health.serves]
    context.metrics.failures.inc(len(found) - len(alive))
    memory.misses = probe.counted(memory.misses, found)
    for action in probe.down(memory.misses, found, options):
        await context.writer.clear(action.peer.pod)
        context.writer.warn(action.peer.pod, action.reason, action.note)
    await _compare(context, alive)
    failing = [peer for peer, health in found if health is PeerHealth.FAILING]
    memory.unwritable = await _unwritable(context, alive, failing)
    await _compare_newest(context, alive)


async def _looked(
    context: JoinContext, stack: tuple[PeerView, ...]
) -> list[tuple[PeerView, PeerHealth]]:
    """How the members are. The silent are asked twice: we may be the ones who are slow."""
    found = await context.checks(stack, PROBE_SECONDS)
    silent = [peer for peer, health in found if health is PeerHealth.SILENT]
    second = await context.checks(silent, SECOND_SECONDS)
    told = {peer.uid: health for peer, health in second}
    return [(peer, told.get(peer.uid, health)) for peer, health in found]


async def _compare(context: JoinContext, alive: list[PeerView]) -> None:
    """Note who is not in the contact's view."""
    memory = context.memory
    contact = next((peer for peer in alive if peer.uid not in memory.foreign), None)
    status = await context.peers.status(contact.address, PROBE_SECONDS) if contact else None
    if contact is None or status is None:
        # Silence and another make look alike: once all were tried, they are tried again.
        memory.foreign = memory.foreign | {contact.uid} if contact is not None else set()
        memory.missing, memory.head, memory.height = {}, "", 0
        return
    memory.head, memory.height = status.head, status.height
    memory.missing = probe.unseen(memory.missing, alive, contact, status)


async def _unwritable(context: JoinContext, alive: list[PeerView], failing: list[PeerView]) -> str:
    """Why nobody can write; nobody is asked unless somebody's last write failed."""
    if not failing:
        return ""
    others = [
        peer for peer in alive if peer not in failing and peer.uid not in context.memory.foreign
    ]
    asked = [*failing[: probe.COMPARED], *others[: probe.COMPARED]]
    told = await context.statuses(asked, PROBE_SECONDS)
    orders = {peer.address: status.order for peer, status in told if status and status.order}
    return probe.unwritable(orders)


async def _compare_newest(context: JoinContext, alive: list[PeerView]) -> None:
    """Note who has another chain, now and then, where peers cannot tell by themselves."""
    memory, asked = context.memory, alive[: probe.COMPARED]
    sweep, memory.sweeps = memory.sweeps, memory.sweeps + 1
    if not probe.compares(sweep):
        return
    unknown = [peer for peer in asked if peer.uid not in memory.ours]
    for peer, status in await context.statuses(unknown, PROBE_SECONDS):
        memory.ours[peer.uid] = status is not None
    if all(memory.ours[peer.uid] for peer in asked):
        memory.forked, memory.newest = "", {}
        return
    now = {peer.uid: digest for peer, digest in await context.newest(asked, SECOND_SECONDS)}
    if memory.newest:
        names = {peer.uid: str(peer.key) for peer in asked}
        memory.forked = probe.forked(memory.newest, now, names)
    memory.newest = now
