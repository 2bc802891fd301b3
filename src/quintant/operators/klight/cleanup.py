"""Ends memberships: pods whose label names another network now, or none.

The record is cleared last, so that a crash in between resumes; the other network waits for that.
One of our own peers leaves when told to. A peer of another make cannot: its old network goes on
listing it, which its owner is told.
"""

from __future__ import annotations

from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.api import WRITTEN, PeerPod
from quintant.operators.klight.lightnetwork.api import LightNetwork
from quintant.operators.klight.observe.membership import Membership
from quintant.operators.klight.plan.join_result import OK
from quintant.operators.klight.rules import incarnation_of, network_of, obstacle

LEAVE_SECONDS = 2.0
"""How long a peer may take to leave: it tells the others."""
TRIES = 3
"""How often a peer that serves is told to leave before we give up."""


async def end_membership(context: JoinContext, pod: PeerPod) -> bool:
    """End the membership of a pod in this network; whether it is over, or to be tried again."""
    record = Membership.read(pod.metadata.annotations)
    lives = record is not None and incarnation_of(pod) == record.incarnation and not obstacle(pod)
    if record is not None and lives and not await _left(context, pod, record.address):
        return False
    target = network_of(pod, context.options)
    await (context.writer.clear(pod) if target else context.writer.erase(pod))
    await context.writer.open_gate(pod, f"left {context.key.name}")
    context.memory.waits_no_more(pod.metadata.uid)
    reason, goal = ("Moved", f" for {target.name}") if target else ("Left", "")
    if record is not None:
        context.writer.say(pod, reason, f"left network {context.key.name}{goal}")
    return True


async def end_unlabelled(context: JoinContext, shown: LightNetwork | None) -> None:
    """Find pods that are out of sight because their label was removed, and let them leave."""
    memory = context.memory
    leaving = {uid: pod.key for uid, pod in memory.leaving.items()}
    expected = memory.members | leaving | listed(shown)
    memory.asked &= expected.keys()
    for uid, key in expected.items():
        if uid in memory.asked or await _seen(context, uid, key):
            memory.leaving.pop(uid, None)
            continue
        found = await context.ctx.client.find(PeerPod, *key, live=True)
        lives = found is not None and found.metadata.uid == uid and _released(context, found)
        if found is not None and lives:
            # Whatever happens now, it is tried again until it is over.
            memory.leaving[uid] = found
            if not await end_membership(context, found):
                continue
        memory.asked.add(uid)
        memory.members.pop(uid, None)
        memory.leaving.pop(uid, None)


async def _seen(context: JoinContext, uid: str, key: Request) -> bool:
    pod = await context.ctx.client.find(PeerPod, *key)
    return pod is not None and pod.metadata.uid == uid


def _released(context: JoinContext, pod: PeerPod) -> bool:
    """Whether a pod that we do not see any more lives on without the label, with what we wrote."""
    record = Membership.read(pod.metadata.annotations)
    here = marked(pod) if record is None else record.network == str(context.key)
    return here and context.options.label not in pod.metadata.labels


def marked(pod: PeerPod) -> bool:
    """Whether something of ours is written on a pod."""
    return any(key in pod.metadata.annotations for key in WRITTEN)


def listed(shown: LightNetwork | None) -> dict[str, Request]:
    """The pods that the status shows: those known before this process began."""
    if shown is None or shown.status is None:
        return {}
    found = {}
    for peer in shown.status.peers:
        namespace, _, name = peer.pod.rpartition("/")
        found[peer.uid] = Request(name, namespace or shown.metadata.namespace)
    return found


async def _left(context: JoinContext, pod: PeerPod, address: str) -> bool:
    """Whether a peer left, or cannot be made to."""
    uid, attempts = pod.metadata.uid, context.memory.attempts
    context.memory.wait(uid, incarnation_of(pod), monotonic())
    if attempts.due(uid) > monotonic():
        return False
    answer = await context.peers.leave(address, f"left {context.key.name}", LEAVE_SECONDS)
    if answer.code == OK:
        return True
    if answer.code != "UNIMPLEMENTED":
        serves = (await context.peers.check(address, LEAVE_SECONDS)).serves
        if serves and attempts.failures(uid) < TRIES:
            attempts.failed(uid, monotonic(), context.ctx.random)
            return False
        if not serves:
            return True
    note = f"{address} cannot leave network {context.key.name}, whose members go on listing it"
    context.writer.warn(pod, "StillListed", f"{note}; delete the pod if they cannot write")
    return True
