"""Which nodes of this machine there are beside `local`, and what is wrong with them.

A Node with the label `node.quintant.dev/runs: processes` is one, whoever made it. It is switched
on, told to the cluster (status and lease), and does what the annotation for faults says:

    dead          its programs end at once, and nothing is heard of it; later they start anew
    partitioned   nothing is heard of it, and its programs go on without the API server
    not-ready, full   it says so itself

A Node that is deleted, or has the label no more, is switched off.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager

from msgspec.structs import replace

from quintant.api.core import Node
from quintant.api.node import NodeStatus
from quintant.api.quantity import Quantity
from quintant.cluster.apiserver.kubelet_client.log_provider import LogOptions, LogsUnavailable
from quintant.cluster.apiserver.kubelet_client.streaming_runtime import (
    ContainerNotFound,
    ExecOptions,
    ExecProcess,
    StreamingRuntime,
)
from quintant.cluster.common.labels import NODE, PROCESSES, RUNS, runs_processes
from quintant.cluster.common.node_conditions import seconds_until_report
from quintant.cluster.common.node_faults import NodeFault, fault_of
from quintant.cluster.common.node_heartbeat import renew_lease
from quintant.cluster.kubelet.cluster_access import ClusterAccess
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.node_status import MachineInfo
from quintant.cluster.kubelet.process.orphans import process_mark
from quintant.cluster.kubelet.process_nodes.node import ProcessNode
from quintant.cluster.kubelet.process_nodes.status import (
    NO_CAPACITY,
    PODS,
    ProcessNodeView,
    capacity_advice,
    lacking,
    process_node_status,
)
from quintant.core.clock import micro_timestamp
from quintant.core.errors import AlreadyExists
from quintant.core.object import ObjectMeta, Request
from quintant.core.object import replace as with_fields
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

NAME = "process-nodes"
FOLDER = "nodes"
"""Where the folders of these nodes are, in that of the whole."""
LABEL_CHARACTERS = 63
"""What the value of a label may have; the name of a node may be longer."""
WORKERS = 4
"""Nodes that are switched on or off at once."""


class ProcessNodes:
    """The nodes of this machine beside `local`; `group` owns what they run."""

    def __init__(
        self,
        base: NodeContext,
        machine: MachineInfo,
        access: ClusterAccess,
        names: Iterable[str],
        group: asyncio.TaskGroup,
    ) -> None:
        self._base, self._machine, self._access = base, machine, access
        self._names, self._group = tuple(names), group
        self._on: dict[str, ProcessNode] = {}
        self._off: dict[str, frozenset[str]] = {}
        """The pods of nodes that were switched off: nobody has their output any more."""
        self._addresses: dict[str, str] = {}
        self._closed = False

    def declare(self, manager: Manager) -> None:
        """Add what keeps them to the manager of `local`."""
        (
            manager.keyed(NAME)
            .watches(ProcessNodeView, to=lambda node: (node.key,), labels={RUNS: PROCESSES})
            .uses(Node, "patch")
            .uses(Node, "patch", sub="status")
            .workers(WORKERS)
            .reconcile(self.reconcile)
        )
        if self._names:
            manager.add(self._create)

    async def reconcile(self, request: Request, ctx: KeyContext) -> Result | None:
        """Bring one node in line with its object, and have it say that it is alive."""
        node = await ctx.client.find(ProcessNodeView, request.name)
        if self._closed or request.name == NODE:
            return None
        if node is None or node.deleting or not runs_processes(node.metadata.labels):
            await self._remove(request.name)
            return None
        fault, running = fault_of(node), self._on.get(request.name)
        if fault is NodeFault.DEAD or (running and running.uid != node.metadata.uid):
            await self._switch_off(request.name)
        elif fault is NodeFault.PARTITIONED and running is not None:
            running.disconnect()
        if fault.silent:
            return None
        await self._tell(node, await self._switched_on(node), fault, ctx)
        return Result(after=self._access.times.renew)

    def has(self, uid: str) -> bool:
        return any(uid in node.pods() for node in self._on.values()) or any(
            uid in pods for pods in self._off.values()
        )

    def read(self, uid: str, container: str, options: LogOptions) -> AsyncGenerator[bytes, None]:
        for node in self._on.values():
            if uid in node.pods():
                return node.read(uid, container, options)
        gone = next(name for name, pods in self._off.items() if uid in pods)
        raise LogsUnavailable(f'node "{gone}" cannot be reached')

    def check_container(self, uid: str, container: str) -> None:
        self._runtime(uid).check_container(uid, container)

    async def exec(self, uid: str, container: str, options: ExecOptions) -> ExecProcess:
        return await self._runtime(uid).exec(uid, container, options)

    async def attach(self, uid: str, container: str, options: ExecOptions) -> ExecProcess:
        return await self._runtime(uid).attach(uid, container, options)

    def check_pod(self, uid: str) -> None:
        self._runtime(uid).check_pod(uid)

    async def dial(self, uid: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            return await self._runtime(uid).dial(uid, port)
        except ContainerNotFound as error:
            raise ConnectionRefusedError(str(error)) from error

    def _runtime(self, uid: str) -> StreamingRuntime:
        for node in self._on.values():
            if uid in node.pods():
                return node.runtime()
        gone = next((name for name, pods in self._off.items() if uid in pods), "")
        raise ContainerNotFound(f'node "{gone}" cannot be reached')

    def shut_down(self) -> None:
        """Begin to end all of them."""
        self._closed = True
        for node in self._on.values():
            node.shut_down()

    async def _create(self, client: Client) -> None:
        """Make the nodes that were asked for."""
        capacity = {**self._machine.capacity, "pods": Quantity(str(PODS))}
        for name in self._names:
            labels = with_name(self._machine, name).labels
            status = NodeStatus(capacity=capacity, allocatable=capacity)
            try:
                await client.create(
                    ProcessNodeView(metadata=ObjectMeta(name=name, labels=labels), status=status)
                )
            except AlreadyExists:
                continue

    async def _switched_on(self, node: ProcessNodeView) -> ProcessNode:
        name = node.metadata.name
        running = self._on.get(name)
        if running is None:
            context = self._context(node)
            running = self._on[name] = ProcessNode(context, self._access, node.metadata.uid)
            self._off.pop(name, None)
            self._group.create_task(running.run())
            await running.started.wait()
        running.connect()
        return running

    def _context(self, node: ProcessNodeView) -> NodeContext:
        name, random = node.metadata.name, self._access.random
        if name not in self._addresses:
            addresses = (
                each.address for each in node.status.addresses if each.type == "InternalIP"
            )
            self._addresses[name] = self._base.addresses.take(next(addresses, ""))
        return replace(
            self._base,
            folder=self._base.folder / FOLDER / name,
            mark=f"{process_mark()}-{random.id()}",
            allocatable=node.status.capacity,
            name=name,
            host=self._addresses[name],
        )

    async def _switch_off(self, name: str) -> None:
        running = self._on.pop(name, None)
        if running is not None:
            self._off[name] = running.pods()
            await running.switch_off()

    async def _remove(self, name: str) -> None:
        await self._switch_off(name)
        self._off.pop(name, None)
        self._base.addresses.free(self._addresses.pop(name, ""))

    async def _tell(
        self, node: ProcessNodeView, running: ProcessNode, fault: NodeFault, ctx: KeyContext
    ) -> None:
        """Have a node say how it is, and that it is alive."""
        now, machine = ctx.clock.now(), with_name(self._machine, node.metadata.name)
        await _label(node, machine, ctx)
        wanted = process_node_status(node, running.address, machine.info, fault, now)
        if seconds_until_report(node.status, wanted, now) <= 0:
            # What was declared stays its author's.
            await ctx.client.set_status(node, with_fields(wanted, capacity={}))
            if missing := lacking(node.status.capacity):
                advice = capacity_advice(node.metadata.name, missing)
                ctx.event(node, NO_CAPACITY, advice, type="Warning")
        await renew_lease(ctx.client, node, micro_timestamp(now), self._access.times)


@asynccontextmanager
async def running_process_nodes(
    base: NodeContext, machine: MachineInfo, access: ClusterAccess, names: Iterable[str]
) -> AsyncIterator[ProcessNodes]:
    """The nodes beside `local`; they are shut down at the latest when the context is left."""
    async with asyncio.TaskGroup() as group:
        nodes = ProcessNodes(base, machine, access, names, group)
        try:
            yield nodes
        finally:
            nodes.shut_down()


def with_name(machine: MachineInfo, name: str) -> MachineInfo:
    """The same machine under the name of another node."""
    return replace(machine, name=name)


async def _label(node: ProcessNodeView, machine: MachineInfo, ctx: KeyContext) -> None:
    """Give a node the labels of its machine, by which pods choose it, unless it has such."""
    fitting = {key: text for key, text in machine.labels.items() if len(text) <= LABEL_CHARACTERS}
    labels = {**fitting, **node.metadata.labels}
    if labels != node.metadata.labels:
        meta = with_fields(node.metadata, labels=labels)
        await ctx.client.patch(with_fields(node, metadata=meta), since=node)
