"""The cluster of a simulation: server, controllers, scheduler, storage and simulated nodes.

Nodes are heard of every three minutes, and may be silent for seven: with the times of a real
cluster their leases would take longer than everything else that happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import msgspec

from quintant.api.core import Node, Pod
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import Table
from quintant.cluster.common.labels import FATE, FAULT
from quintant.cluster.common.node_faults import fault_of
from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.controllers import controllers
from quintant.cluster.scheduler import scheduler
from quintant.cluster.simulated.component import simulator
from quintant.cluster.simulated.fleet import Fleet
from quintant.cluster.volumes.component import csi_driver
from quintant.cluster.volumes.directories import NoDirectories
from quintant.core.clock import Random, monotonic
from quintant.core.errors import NotFound
from quintant.core.object import K, Object, Request
from quintant.core.resource import resource_of
from quintant.runtime.cache.client import Client
from quintant.testing.cluster import InProcessCluster
from quintant.testing.explore.simulation.objects import IGNORED_TABLES, ObjectView
from quintant.testing.simulate.assertions import Assertions
from quintant.testing.simulate.program import BOOKMARK_SECONDS, WATCH
from quintant.testing.simulate.timeline import Timeline

START_SECONDS = 5.0
"""What it takes until all nodes are there."""
MERGE = {"Content-Type": "application/merge-patch+json"}
NODES = resource_of(Node).full_name
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
"""What objects look like may change with them."""


class Heartbeats(HeartbeatTimes, frozen=True):
    """The times of simulated nodes: seldom, and with patience."""

    grace: float = 400.0

    @property
    def renew(self) -> float:
        return 180.0

    @property
    def lease(self) -> int:
        return 300

    @property
    def report(self) -> float:
        return 1800.0

    @property
    def round(self) -> float:
        return 30.0


class SimulatedWorld:
    """What systems and disturbances have in their hands."""

    def __init__(self, seed: int, nodes: int, show: Callable[[str], None]) -> None:
        self.cluster: InProcessCluster = InProcessCluster(seed=seed, bookmarks=BOOKMARK_SECONDS)
        self.timeline: Timeline = Timeline(monotonic, show)
        self.assertions: Assertions = Assertions(self.timeline)
        self._nodes, self._seed = nodes, seed
        self._objects = ObjectView(self.cluster.server)
        self._views: dict[str, dict[tuple[type[Object], str], Sequence[Object]]] = {}
        """What was read of a table since it was last written."""
        self._dead: frozenset[str] | None = None
        """Those of which nothing is heard, as long as no node was written: much asks for them."""
        self._listeners: dict[str, list[Callable[[], None]]] = {}
        self.cluster.server.store.subscribe(self._written)

    @property
    def client(self) -> Client:
        """The users' client: no cache, no faults."""
        return self.cluster.client

    def all(self, kind: type[K], namespace: str = "") -> list[K]:
        """Every object of a kind at this moment."""
        known = self._views.setdefault(resource_of(kind).full_name, {})
        if (kind, namespace) not in known:
            known[kind, namespace] = self._objects.all(kind, namespace)
        return list(cast("list[K]", known[kind, namespace]))

    def one(self, kind: type[K], name: str, namespace: str = "") -> K | None:
        """One object at this moment; None if it is absent."""
        found = (each for each in self.all(kind, namespace) if each.metadata.name == name)
        return next(found, None)

    def waits(self, pod: Pod) -> bool:
        """Whether a pod is there and not ready."""
        found = self.one(Pod, *pod.key)
        return found is not None and not found.ready

    def on_write(self, table: str, listener: Callable[[], None]) -> None:
        """Have something called after every write to a table; it must not write."""
        self._listeners.setdefault(table, []).append(listener)

    def dead_nodes(self) -> frozenset[str]:
        """The names of nodes of which nothing is heard."""
        if self._dead is None:
            silent = (each.metadata.name for each in self.all(Node) if fault_of(each).silent)
            self._dead = frozenset(silent)
        return self._dead

    async def patch(self, kind: type[Object], key: Request, change: Mapping[str, Any]) -> None:
        """Change an object as a user would; nothing if it is gone."""
        path = resource_of(kind).path(key.namespace, key.name)
        body = msgspec.json.encode(change)
        try:
            await self.client.raw("PATCH", path, body=body, headers=MERGE)
        except NotFound:
            return

    async def delete(self, obj: Object) -> None:
        """Delete an object as a user would; nothing if it is gone."""
        try:
            await self.client.delete(obj)
        except NotFound:
            return

    async def set_fault(self, node: Node, fault: str | None) -> None:
        """Have a node fail, or be well again."""
        change = {"metadata": {"annotations": {FAULT: fault}}}
        await self.patch(Node, node.key, change)

    async def set_fate(self, pod: Pod, fate: str | None) -> None:
        """Choose another life for a pod, or an ordinary one."""
        await self.patch(Pod, pod.key, {"metadata": {"annotations": {FATE: fate}}})

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Have the control plane and the nodes at work for as long as the context lasts."""
        times, cluster = Heartbeats(), self.cluster
        parts = (
            Component(controllers(times=times)),
            scheduler(),
            csi_driver(NoDirectories()),
            simulator(Fleet(self._nodes), clock=cluster.clock, times=times),
        )
        async with AsyncExitStack() as stack:
            for part in parts:
                part.manager.configure(watch=WATCH)
                random = Random(f"{self._seed} {part.manager.name}")
                running = run_component(cluster.server, part, cluster.clock, random)
                await stack.enter_async_context(running)
            await asyncio.sleep(START_SECONDS)
            yield

    def _written(self, table: Table, change: Change) -> None:
        if table.name in IGNORED_TABLES:
            return
        if table.name == DEFINITIONS:
            self._views.clear()
        self._views.pop(table.name, None)
        if table.name == NODES:
            self._dead = None
        self.timeline.note(table.name, change)
        for listener in self._listeners.get(table.name, ()):
            listener()
        self.assertions.written(table.name)
