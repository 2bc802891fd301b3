"""One node of this machine beside `local`, while it is on: a kubelet, and its ways to the cluster.

The kubelet reaches the API server by a transport that can be cut, and its programs by an address of
their own that can be: both at once are a network partition. Switched off, the node takes its
programs with it; switched on again, it is a new one, which starts the pods anew that it is told of.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Final

from msgspec.structs import replace

from quintant.client.transport import Transport
from quintant.cluster.apiserver.kubelet_client.log_provider import LogOptions, LogsUnavailable
from quintant.cluster.apiserver.kubelet_client.streaming_runtime import (
    ContainerNotFound,
    StreamingRuntime,
)
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.component.partition import PartitionableTransport
from quintant.cluster.kubelet.cluster_access import ClusterAccess, Partitionable
from quintant.cluster.kubelet.kubelet import Kubelet
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.process_nodes.meter import ProcessNodeMeter
from quintant.cluster.kubelet.running import GROUPS, running_kubelet, running_sampler
from quintant.runtime.manager.manager import Manager

STOP_SECONDS = 2.0
"""For reconciles under way when a node is switched off: they have nobody to tell."""


class ProcessNode:
    """A node that is on; `run` is its life."""

    def __init__(self, context: NodeContext, access: ClusterAccess, uid: str) -> None:
        self._context, self._access = context, access
        self.uid = uid
        self.name: str = context.name
        self.address: str = context.host
        self.started: Final = asyncio.Event()
        self._over = asyncio.Event()
        self._ended = asyncio.Event()
        self._kubelet: Kubelet | None = None
        self._endpoint: Partitionable | None = None
        self._transport: PartitionableTransport | None = None

    async def run(self) -> None:
        """Run pods until the node is switched off or shut down."""
        access = self._access
        try:
            async with AsyncExitStack() as stack:
                self._endpoint, api = await stack.enter_async_context(access.endpoint())
                context = replace(self._context, api=api)
                kubelet = await stack.enter_async_context(running_kubelet(context))
                self._kubelet = kubelet
                sampling = running_sampler(kubelet, whole=False)
                meter = ProcessNodeMeter(
                    self.name, await stack.enter_async_context(sampling), self._is_connected
                )
                component = _component(kubelet, meter)
                at_work = run_component(
                    access.server, component, access.clock, access.random, self._partitionable
                )
                await stack.enter_async_context(at_work)
                self.started.set()
                await self._over.wait()
        finally:
            self._ended.set()

    def connect(self) -> None:
        """Let the node and its programs reach the cluster."""
        if self._transport is not None and self._endpoint is not None:
            self._transport.connect()
            self._endpoint.connect()

    def disconnect(self) -> None:
        """Let neither the node nor its programs reach the cluster; they go on."""
        if self._transport is not None and self._endpoint is not None:
            self._transport.disconnect()
            self._endpoint.disconnect()

    async def switch_off(self) -> None:
        """End the programs at once, without a word to anybody."""
        self.disconnect()
        if self._kubelet is not None:
            self._kubelet.kill()
        self._over.set()
        await self._ended.wait()

    def shut_down(self) -> None:
        """Begin to end: programs have the time that they have when the cluster ends."""
        if self._kubelet is not None:
            self._kubelet.stop_starting()
        self._over.set()

    def pods(self) -> frozenset[str]:
        """The uids of its pods."""
        return frozenset(self._kubelet.workers) if self._kubelet is not None else frozenset()

    def read(self, uid: str, container: str, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """What a container of a pod printed."""
        if self._kubelet is None or not self._is_connected():
            raise LogsUnavailable(f'node "{self.name}" cannot be reached')
        return self._kubelet.read(uid, container, options)

    def runtime(self) -> StreamingRuntime:
        """Who runs its containers; ContainerNotFound if it cannot be reached."""
        if self._kubelet is None or not self._is_connected():
            raise ContainerNotFound(f'node "{self.name}" cannot be reached')
        return self._kubelet

    def _partitionable(self, transport: Transport) -> Transport:
        self._transport = PartitionableTransport(transport)
        return self._transport

    def _is_connected(self) -> bool:
        return self._transport is not None and self._transport.connected


def _component(kubelet: Kubelet, meter: ProcessNodeMeter) -> Component:
    """Who the kubelet is to the API server; its Node is kept by the controller of such nodes."""
    manager = Manager(f"node:{kubelet.node.name}", grace=STOP_SECONDS)
    kubelet.declare(manager)
    return Component(manager, GROUPS, meter=meter)
