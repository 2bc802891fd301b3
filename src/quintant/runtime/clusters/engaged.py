"""A cluster that is worked in: its connection, and the declarations bound to it, at work.

    kinds read ──▶ elected at home ──▶ controllers        until it leaves: then nothing may write

It waits for its caches for ever, and no other cluster waits for it. What ends it is that it leaves,
or that the process does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from quintant.client.fence import write_query
from quintant.client.rest import Rest
from quintant.client.retry import with_retries
from quintant.client.token_bucket import TokenBucket
from quintant.client.transport import ApiRequest, Transport
from quintant.core.clock import monotonic
from quintant.core.errors import NotEngaged, TransportError
from quintant.runtime.clusters.bound_cluster import BoundCluster
from quintant.runtime.clusters.process_parts import ProcessParts
from quintant.runtime.clusters.states import ClusterCondition, condition_of, facts_of
from quintant.runtime.controller.controller import Controller
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.controller.reconcile import ClientFinder
from quintant.runtime.events.undecodable_objects import UndecodableObjects
from quintant.runtime.observe import logs
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.observe.tracing import TracedTransport
from quintant.runtime.remote import BoundedTransport, RemoteLimits

log: Final = logs.get_logger()

LOOK_SECONDS = 1.0
"""How often it is looked how much a cluster has us hold."""


class EngagedCluster:
    """The declarations at work in one cluster that is not home."""

    def __init__(
        self,
        name: str,
        transport: Transport,
        process: ProcessParts,
        declarations: Sequence[Declaration[Any]],
        limits: RemoteLimits,
        client_of: ClientFinder,
    ) -> None:
        self._limits = limits
        self.name: Final = name
        self.metrics: Metrics = Metrics(of_process=False)
        self._process, self._transport, self._left = process, transport, False
        self.bound: BoundCluster = BoundCluster(
            self._rest(),
            process,
            declarations,
            self.metrics,
            cluster=name,
            fence=self._fence,
            client_of=client_of,
        )
        self.controllers: dict[str, Controller[Any]] = {
            each.name: each for each in self.bound.controllers
        }

    @property
    def condition(self) -> ClusterCondition:
        """What it is at."""
        return condition_of(facts_of(self.bound.caches, monotonic()))

    async def run(self, grace: Callable[[], float]) -> None:
        """Work until cancelled."""
        bound = self.bound
        async with asyncio.TaskGroup() as group:
            for informer in bound.caches:
                group.create_task(informer.run())
            if bound.selected is not None:
                group.create_task(bound.selected.namespaces.run())
            if bound.sampling is not None:
                group.create_task(bound.staleness.sample(bound.sampling))
            group.create_task(bound.recorder.run())
            group.create_task(self._hold_to_limit())
            group.create_task(self._work(grace))

    def leave(self) -> None:
        """From now on nothing is written, whatever is under way."""
        self._left = True

    def forget(self) -> None:
        """Drop what is remembered of its keys. What is there stays as it is."""
        for controller in self.bound.controllers:
            controller.forget_all()

    async def close(self) -> None:
        """Release its connections."""
        await self._transport.close()

    async def _work(self, grace: Callable[[], float]) -> None:
        bound = self.bound
        for informer in bound.caches:
            await informer.wait_synced()
        await self._process.elected()
        UndecodableObjects(bound.recorder).follow(bound.caches)
        log.info("working in cluster", cluster=self.name, controllers=len(bound.controllers))
        async with asyncio.TaskGroup() as group:
            for controller in bound.controllers:
                group.create_task(controller.run(self._process.settings.resync, grace))

    async def _hold_to_limit(self) -> None:
        """TransportError once its objects are more than another cluster may have us hold."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            held = sum(len(each.store) + len(each.undecodable) for each in self.bound.caches)
            if held > self._limits.objects:
                raise TransportError(f"the cluster has more than {self._limits.objects} objects")

    def _fence(self, call: ApiRequest | None = None, /) -> None:
        """Let a write pass that home's fence lets pass, while the cluster is ours."""
        if self._left:
            raise NotEngaged(self.name)
        if self._process.fence is not None:
            self._process.fence(call)

    def _rest(self) -> Rest:
        process, transport = self._process, self._transport
        settings, seconds = process.settings, process.write_seconds
        if process.tracer is not None:
            transport = TracedTransport(transport, process.tracer)
        # Its own: one that hangs must not use up what the others may send.
        bucket = TokenBucket(settings.rate, settings.burst) if settings.rate is not None else None
        counts = self.metrics.rest("kubernetes")
        # The right to write is home's, and it must not be held up here: every call has an end.
        transport = BoundedTransport(transport, self._limits)
        retrying = with_retries(transport, process.random, bucket=bucket, observer=counts)
        query = write_query(seconds) if seconds is not None else {}
        return Rest(retrying, counts, seconds, write_query=query)
