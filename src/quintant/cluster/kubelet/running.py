"""A kubelet, and what measures its pods, for as long as a context lasts; nothing is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from quintant.cluster.kubelet.kubelet import Kubelet
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.process.orphans import AGENT, end_marked
from quintant.cluster.kubelet.process.proc_stats import UsageSampler

GROUPS = ("system:nodes",)
"""Whom the API server takes kubelets for."""


@asynccontextmanager
async def running_kubelet(node: NodeContext) -> AsyncIterator[Kubelet]:
    """A kubelet; its programs end with the context, and their folders go."""
    async with asyncio.TaskGroup() as group:
        kubelet = Kubelet(node, group)
        try:
            yield kubelet
        finally:
            await kubelet.close()
            end_marked(AGENT, lambda mark: mark == node.mark)


@asynccontextmanager
async def running_sampler(kubelet: Kubelet, *, whole: bool = True) -> AsyncIterator[UsageSampler]:
    """What measures the pods of a kubelet; `whole` says that its node is all of this machine."""
    node = kubelet.node
    sampler = UsageSampler(node.name, kubelet.sandboxes, node.now, whole=whole)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(sampler.run())
        try:
            yield sampler
        finally:
            task.cancel()
