"""How full the volumes of a CosmosFullNode are, as the sidecars of its pods tell."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from quintant.operators.cosmos.init_container_builder import chain_home
from quintant.operators.cosmos.observe import ChainNode, Observed
from quintant.operators.cosmos.remote import NodeRemote, NodeUnreachable, ask_disk

_MOST_AT_ONCE = 16


async def ask_usage(observed: Observed, remote: NodeRemote) -> tuple[dict[str, int], list[str]]:
    """How full each volume is in percent, by claim; and why others did not tell."""
    there = [
        node for node in observed.nodes if node.present and node.pod and node.pod.status.pod_ip
    ]
    gate = asyncio.Semaphore(_MOST_AT_ONCE)
    folder = chain_home(observed.crd)
    answers = await asyncio.gather(*(_usage(node, remote, folder, gate) for node in there))
    return _sorted(there, answers)


async def _usage(
    node: ChainNode, remote: NodeRemote, folder: str, gate: asyncio.Semaphore
) -> int | str:
    address = node.pod.status.pod_ip if node.pod is not None else ""
    try:
        async with gate:
            return (await ask_disk(remote, address, folder)).percent
    except NodeUnreachable as error:
        return f"{node.name}: {error}"


def _sorted(
    nodes: Sequence[ChainNode], answers: Sequence[int | str]
) -> tuple[dict[str, int], list[str]]:
    used, failed = {}, []
    for node, answer in zip(nodes, answers, strict=True):
        if isinstance(answer, str):
            failed.append(answer)
        elif node.pod is not None and node.pod.claim:
            used[node.pod.claim] = answer
    return used, failed
