"""One turn of a network: end what is over, check, join, repair, each after a look of its own."""

from __future__ import annotations

from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.act.join import JoinTurn
from quintant.operators.klight.act.probe import probe_members
from quintant.operators.klight.act.repair import repair
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.cleanup import end_membership, end_unlabelled
from quintant.operators.klight.observe.reader import BY_NETWORK
from quintant.operators.klight.observe.view import Observed
from quintant.operators.klight.plan.repair import wanted
from quintant.runtime.controller.context import KeyContext


async def warn_nameless(ctx: KeyContext, label: str) -> None:
    """Tell pods whose label is empty: a legal value, and no network."""
    for pod in await ctx.client.list(PeerPod, index=(BY_NETWORK, str(ctx.request))):
        note = f"label {label} is empty; write a network's name"
        ctx.event(pod, "InvalidNetworkID", note, type="Warning")


async def save(context: JoinContext, observed: Observed) -> None:
    """Write down what happened and could not be written before."""
    for peer in observed.peers:
        membership = context.memory.unsaved.get(peer.uid)
        if membership is not None:
            await context.writer.save(peer.pod, membership)


async def run_steps(context: JoinContext, observed: Observed) -> None:
    """Keep a network together."""
    shown = await context.reader.lightnetwork()
    for peer in observed.peers:
        for complaint in peer.complaints:
            context.writer.warn(peer.pod, *complaint)
    context.memory.paused = shown is not None and bool(shown.spec.paused)
    if context.memory.paused:
        await probe_members(context, observed.stack)
        return
    await end_unlabelled(context, shown)
    for pod in observed.leavers:
        await end_membership(context, pod)
    await probe_members(context, observed.stack)
    await JoinTurn(context, await context.observe()).run()
    memory = context.memory
    if wanted(shown, context.options.repair, memory.missing, bool(memory.forked)):
        await repair(context, shown)
