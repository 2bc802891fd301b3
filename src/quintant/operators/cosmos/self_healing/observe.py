"""What SelfHealing asks of pods beside their status: how full volumes are, and how many peers."""

from __future__ import annotations

from quintant.core.gather import each
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.views import NodePod
from quintant.operators.cosmos.builders.init_container_builder import chain_home
from quintant.operators.cosmos.observe.reader import observe as observe_full_node
from quintant.operators.cosmos.remote import NodeRemote, NodeUnreachable, ask_disk, ask_once
from quintant.operators.cosmos.remote.comet import CometCache
from quintant.operators.cosmos.self_healing.observed import HealingObserved
from quintant.operators.cosmos.self_healing.plan.question import question
from quintant.runtime.reconcile.context import Context
from quintant.wire.comet import MalformedStatus, parse_peers

_MOST_AT_ONCE = 16


async def observe(
    ctx: Context[CosmosFullNode], cache: CometCache, remote: NodeRemote
) -> HealingObserved:
    """Read a CosmosFullNode, and ask its pods what `question` says."""
    observed = await observe_full_node(ctx.obj, ctx.client, cache, ctx.clock.now())
    questions, folder = question(observed), chain_home(observed.full_node)

    async def usage(pod: NodePod) -> int | NodeUnreachable:
        try:
            return (await ask_disk(remote, pod.status.pod_ip, folder)).percent
        except NodeUnreachable as error:
            return error

    async def peers(pod: NodePod) -> int | NodeUnreachable:
        try:
            return _count(await ask_once(remote, pod.status.pod_ip, pod.rpc_port, "/net_info"))
        except NodeUnreachable as error:
            return error

    used = await each(questions.usage, usage, limit=_MOST_AT_ONCE)
    counts = await each(questions.peers, peers, limit=_MOST_AT_ONCE)
    return HealingObserved(
        observed,
        usage={pod.claim: it for pod, it in used if isinstance(it, int) and pod.claim},
        unanswered=tuple(
            f"{pod.metadata.name}: {it}" for pod, it in used if isinstance(it, NodeUnreachable)
        ),
        peers={pod.metadata.uid: it for pod, it in counts if isinstance(it, int)},
    )


def _count(body: bytes) -> int:
    """The number of peers in an answer; NodeUnreachable if it says none."""
    try:
        return parse_peers(body)
    except MalformedStatus:
        raise NodeUnreachable("it told no peers") from None
