"""Pods that are ready only as members: the condition `klight.quintant.dev/Joined`.

A pod asks for it by naming it among its readiness gates; a Service then sends nobody to it before
it has joined, and a rollout goes on only when it has. Other pods get no condition.
"""

from __future__ import annotations

from quintant.api.meta import Condition, condition_of
from quintant.core.clock import timestamp
from quintant.core.errors import Conflict, Invalid, NotFound
from quintant.operators.klight.act.context import JoinContext
from quintant.operators.klight.api import JOINED, PeerPod, PeerStatus
from quintant.operators.klight.observe.view import Observed


async def open_gates(context: JoinContext, observed: Observed) -> None:
    """Tell the pods of a network that ask for it whether they are members."""
    members = {peer.uid for peer in observed.stack}
    for peer in observed.peers:
        waits = "" if peer.uid in members else peer.obstacle or f"not in {context.key.name} yet"
        await tell(context, peer.pod, waits)


async def tell(context: JoinContext, pod: PeerPod, waits: str) -> None:
    """Tell a pod that asks for it that it is a member, or for what it waits."""
    status = "False" if waits else "True"
    found = condition_of(pod.status.conditions, JOINED)
    if not _asks(pod) or pod.deleting or (found is not None and found.status == status):
        return
    condition = Condition(
        type=JOINED,
        status=status,
        reason="Waiting" if waits else "Member",
        message=waits,
        last_transition_time=timestamp(context.ctx.clock.now()),
    )
    try:
        await context.ctx.client.set_status(pod, PeerStatus(conditions=(condition,)))
    except (Conflict, Invalid, NotFound):
        # This very pod is gone; its namesake is somebody else.
        return


def _asks(pod: PeerPod) -> bool:
    return any(gate.condition_type == JOINED for gate in pod.spec.readiness_gates)
