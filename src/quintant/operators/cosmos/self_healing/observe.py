"""What SelfHealing asks of pods beside their status: how full volumes are, and how many peers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeVar

import msgspec

from quintant.operators.cosmos.builders.init_container_builder import chain_home
from quintant.operators.cosmos.observe.observed import ChainNode, Observed
from quintant.operators.cosmos.remote import NodeRemote, NodeUnreachable, ask_disk, ask_once

_MOST_AT_ONCE = 16
T = TypeVar("T")


class _Peers(msgspec.Struct):
    n_peers: str


class _Answer(msgspec.Struct):
    result: _Peers


async def ask_usage(observed: Observed, remote: NodeRemote) -> tuple[dict[str, int], list[str]]:
    """How full each volume is in percent, by claim; and why others did not tell."""
    folder = chain_home(observed.crd)

    async def usage(node: ChainNode, address: str) -> int:
        return (await ask_disk(remote, address, folder)).percent

    told, failed = await _each(observed, usage)
    return {node.pod.claim: used for node, used in told if node.pod and node.pod.claim}, failed


async def ask_peers(
    observed: Observed, remote: NodeRemote, before: dict[str, datetime]
) -> dict[str, datetime]:
    """Since when nodes have no peers, by the uid of their pods; a node that is silent stays so."""

    async def peers(node: ChainNode, address: str) -> int:
        port = node.pod.rpc_port if node.pod is not None else 0
        body = await ask_once(remote, address, port, "/net_info")
        try:
            return int(msgspec.json.decode(body, type=_Answer).result.n_peers)
        except (msgspec.DecodeError, ValueError):
            raise NodeUnreachable("it told no peers") from None

    told, _ = await _each(observed, peers)
    alone = [node.pod.metadata.uid for node, count in told if node.pod and count == 0]
    return {uid: before.get(uid, observed.now) for uid in alone}


async def _each(
    observed: Observed, ask: Callable[[ChainNode, str], Awaitable[T]]
) -> tuple[list[tuple[ChainNode, T]], list[str]]:
    """What the pods that there are answer, and why others did not; not too many at once."""
    there = [
        node for node in observed.nodes if node.present and node.pod and node.pod.status.pod_ip
    ]
    gate, failed = asyncio.Semaphore(_MOST_AT_ONCE), []

    async def answer(node: ChainNode) -> list[tuple[ChainNode, T]]:
        try:
            async with gate:
                return [(node, await ask(node, node.pod.status.pod_ip if node.pod else ""))]
        except NodeUnreachable as error:
            failed.append(f"{node.name}: {error}")
            return []

    found = await asyncio.gather(*map(answer, there))
    return [each for part in found for each in part], failed
