"""GraphBuilder: the watches behind the owner graph, as resources come and go.

Only metadata is asked for, and of it only what ownership needs is kept. Until every resource was
read once, nothing is looked at: an owner that is merely read later would seem to be missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from typing import Final

from quintant.client.rest import Rest
from quintant.cluster.controllers.garbage.graph import OwnerGraph, graph_node
from quintant.cluster.controllers.served_kinds import metadata_of
from quintant.core.clock import Random
from quintant.core.errors import Undecodable
from quintant.core.object import Object, ObjectMeta, Request
from quintant.core.resource import Resource
from quintant.runtime.observe import logs
from quintant.runtime.watch.reflector import Reflector
from quintant.runtime.watch.reflector_target import InitialState
from quintant.runtime.watch.scope import WatchScope
from quintant.runtime.watch.watch_states import WatchOutcome
from quintant.runtime.workqueue.key_queue import KeyQueue

log: Final = logs.get_logger()

SYNC_SECONDS = 10.0
"""A resource that cannot be read for so long at the start does not hold up the others: what it
owns is checked with the server before anything is done to it."""


class GraphBuilder:
    """A graph, kept true for as long as `run` lasts."""

    def __init__(self, queue: KeyQueue) -> None:
        self.graph: OwnerGraph = OwnerGraph()
        self._queue = queue
        self._tasks: dict[Resource, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._awaited: set[Resource] = set()
        self._synced = asyncio.Event()
        self._open = False

    async def run(self) -> None:
        """Own the watches until cancelled."""
        async with asyncio.TaskGroup() as self._group:
            try:
                async with asyncio.timeout(SYNC_SECONDS):
                    await self._synced.wait()
            except TimeoutError:
                log.warning("collecting without some kinds", missing=sorted(map(str, self.missing)))
            self._open = True
            self.wake(self.graph.pending())
            await asyncio.Future()

    @property
    def missing(self) -> Collection[str]:
        """The resources that could not be read so far."""
        return {resource.full_name for resource in self._awaited}

    @property
    def monitored(self) -> Collection[Resource]:
        """The resources that are watched."""
        return self._tasks.keys()

    def start_monitor(self, resource: Resource, rest: Rest, random: Random) -> None:
        """Watch one more resource."""
        assert self._group is not None, "resources are followed while `run` lasts"
        self._awaited.add(resource)
        scope = WatchScope(metadata_of(resource))
        reflector = Reflector(rest, scope, _Ledger(self, resource), random)
        self._tasks[resource] = self._group.create_task(reflector.run())

    def stop_monitor(self, resource: Resource, *, gone: bool) -> None:
        """Watch one resource less; its objects are gone, too, or merely out of sight."""
        self._tasks.pop(resource).cancel()
        if gone:
            self.wake(self.graph.remove_resource(resource))
        self.read(resource)

    def read(self, resource: Resource) -> None:
        """A resource has been read as a whole, or need not be any more."""
        self._awaited.discard(resource)
        if not self._awaited:
            self._synced.set()

    def wake(self, uids: Iterable[str]) -> None:
        """Have objects looked at."""
        if self._open:
            for uid in uids:
                self._queue.add(Request(uid))


class _Ledger:
    """Where the watch of one resource reports to."""

    def __init__(self, builder: GraphBuilder, resource: Resource) -> None:
        self._builder, self._resource = builder, resource
        self._graph = builder.graph

    def replace(self, namespace: str, state: InitialState[Object]) -> None:
        for obj in state.objects.values():
            self.upsert(obj)
        present = {obj.metadata.uid for obj in state.objects.values()}
        self._builder.wake(self._graph.remove_resource(self._resource, but=present))
        self._builder.read(self._resource)

    def upsert(self, obj: Object) -> None:
        self._builder.wake(self._graph.put(graph_node(self._resource, obj.metadata)))

    def delete(self, obj: Object) -> None:
        self._builder.wake(self._graph.remove(obj.metadata.uid))

    def report_undecodable(self, error: Undecodable, meta: ObjectMeta, *, deleted: bool) -> None:
        """Metadata that is none is nobody's owner."""

    def report_restart(self, outcome: WatchOutcome) -> bool:
        """The watch goes on where it was."""
        return False
