"""Shows a network: its LightNetwork, the gates of its pods, its series; and when to look again."""

from __future__ import annotations

from quintant.core.clock import monotonic
from quintant.core.errors import AlreadyExists
from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.cleanup import marked
from quintant.operators.klight.lightnetwork import builders
from quintant.operators.klight.lightnetwork.plan import changes, states, status_of, write_pause
from quintant.operators.klight.observe.view import Observed
from quintant.operators.klight.plan.candidates import next_look
from quintant.runtime.controller.result import Result


async def show(context: JoinContext, observed: Observed) -> Result | None:
    """Tell what a network is like now; None once it is no more."""
    memory, writer = context.memory, context.writer
    memory.retain(observed.uids | memory.leaving.keys())
    memory.members = {peer.uid: peer.key for peer in observed.peers if marked(peer.pod)}
    context.metrics.show(context.key, states(observed, memory), len(observed.stack))
    for peer in observed.stack:
        await writer.open_gate(peer.pod, "")
    for peer in (*observed.candidates, *observed.excluded):
        waits = peer.obstacle or f"not in {context.key.name} yet"
        await writer.open_gate(peer.pod, waits)
    if not observed.peers and not memory.leaving:
        return await _retire(context)
    memory.empty = None
    due = next_look(observed, memory, monotonic())
    if pause := write_pause(memory.written, monotonic()):
        return Result(min(due, pause))
    await _write(context, observed)
    return Result(due)


async def _write(context: JoinContext, observed: Observed) -> None:
    client, shown = context.ctx.client, await context.reader.lightnetwork()
    if shown is None:
        wanted = builders.lightnetwork(context.reader.place, context.key.name)
        try:
            shown = await client.create(wanted)
        except AlreadyExists:
            return
    context.memory.written = monotonic()
    status = status_of(shown, observed, context.memory, context.ctx.clock.now())
    await client.set_status(shown, status)
    for change in changes(shown, status):
        context.ctx.event(shown, change.reason, change.note, type=change.type)


async def _retire(context: JoinContext) -> Result | None:
    """Show an empty network for a while, then remove its object."""
    memory, shown = context.memory, await context.reader.lightnetwork()
    memory.empty = monotonic() if memory.empty is None else memory.empty
    left = memory.empty + context.options.gc_after - monotonic()
    if shown is not None and left > 0:
        await _write(context, Observed(context.key))
        return Result(left)
    if shown is not None:
        await context.ctx.client.delete(shown)
    context.metrics.forget(context.key)
    return None
