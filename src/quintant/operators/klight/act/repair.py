"""Brings the parts of a network together; `plan.repair` says when and whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.cleanup import listed
from quintant.operators.klight.lightnetwork.api import LightNetwork
from quintant.operators.klight.observe.view import Observed, PeerView
from quintant.operators.klight.plan.join_result import Answer, JoinResult, join_result
from quintant.operators.klight.plan.probe import seen_by
from quintant.operators.klight.plan.repair import requested, strays, summary

STATUS_SECONDS = 2.0
CHECK_SECONDS = 2.0


async def repair(context: JoinContext, shown: LightNetwork | None) -> None:
    """Bring the parts of a network together, and say how it went."""
    observed = await _observed(context, shown)
    told = await context.statuses(observed.stack, STATUS_SECONDS)
    ours = {peer.address: (peer, status) for peer, status in told if status is not None}
    lost, base = strays({address: seen_by(status) for address, (_, status) in ours.items()})
    contact = next((peer.address for peer in observed.stack if peer.address in base), "")
    answers = await _gather(context, [ours[address][0] for address in lost], contact)
    others = await _serving(context, [peer for peer, status in told if status is None])
    if len(observed.stack) > 1:
        answers |= await _regroup(context, others, contact)
    _tell(context, observed, answers)
    failed = sum(join_result(answer) is not JoinResult.JOINED for answer in answers.values())
    silent = len(told) - len(ours) - len(others)
    result, context.memory.repaired = summary(len(answers), failed, silent)
    context.memory.handled = requested(shown)
    context.metrics.repairs.labels(result).inc()
    context.ctx.log.info("repaired", network=str(context.key), strays=len(answers), failed=failed)
    context.memory.missing, context.memory.newest, context.memory.forked = {}, {}, ""
    if shown is not None and answers:
        reason = "RepairFailed" if failed else "Repaired"
        note = context.memory.repaired
        context.ctx.event(shown, reason, note, type="Warning" if failed else "Normal")


async def _observed(context: JoinContext, shown: LightNetwork | None) -> Observed:
    """The network, with what the server knows of pods that its status shows and caches do not.

    By caches that are behind, a request would be done with while those whom they lack stay apart.
    """
    observed = await context.observe()
    members = {peer.uid for peer in observed.stack}
    doubtful = [key for uid, key in listed(shown).items() if uid not in members]
    found = [await context.ctx.client.find(PeerPod, *key, live=True) for key in doubtful]
    return await context.observe([pod for pod in found if pod is not None])


async def _serving(context: JoinContext, peers: Sequence[PeerView]) -> list[PeerView]:
    found = await context.checks(peers, CHECK_SECONDS)
    return [peer for peer, health in found if health.serves]


async def _gather(
    context: JoinContext, lost: Sequence[PeerView], contact: str
) -> dict[str, Answer]:
    """Send everybody who is lost to a contact; what each answered."""
    answers = {}
    for peer in lost:
        context.ctx.client.fence()
        within = context.options.join_timeout
        answers[peer.uid] = await context.peers.join(peer.address, contact, within)
    return answers


async def _regroup(
    context: JoinContext, others: Sequence[PeerView], contact: str
) -> dict[str, Answer]:
    """Give peers of another make one list and one chain; what each answered.

    The oldest comes first in the list, as in a network that was never torn.
    """
    oldest = list(reversed(others))
    if not oldest:
        return {}
    context.ctx.client.fence()
    if contact:
        return await _through(context, oldest, contact)
    names, options = [peer.address for peer in oldest], context.options
    told = await context.peers.regroup(names, options.repair_port, options.join_timeout)
    return {peer.uid: told[peer.address] for peer in oldest}


async def _through(
    context: JoinContext, others: Sequence[PeerView], contact: str
) -> dict[str, Answer]:
    """Have one of our own peers write what the others alone have, then send them to it."""
    names, within = [peer.address for peer in others], context.options.join_timeout
    answer = await context.peers.collect(contact, names, within)
    if join_result(answer) is not JoinResult.JOINED:
        return {peer.uid: answer for peer in others}
    return await _gather(context, others, contact)


def _tell(context: JoinContext, observed: Observed, answers: Mapping[str, Answer]) -> None:
    for peer in observed.stack:
        answer = answers.get(peer.uid)
        if answer is None:
            continue
        if join_result(answer) is JoinResult.JOINED:
            context.writer.say(peer.pod, "Repaired", "brought back to its network")
        else:
            note = f"could not be brought back: {answer.text or answer.code}"
            context.writer.warn(peer.pod, "RepairFailed", note)
