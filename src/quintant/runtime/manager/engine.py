"""A manager's declarations at work: bound to an environment, started and stopped in order.

    start: servers, webhooks, caches, runnables, leader election, controllers
    stop:  not ready, controllers (reconciles end), leader's runnables, lease, events,
           and then everything else at once; servers last

Everything runs in one task group: a task that fails takes the process down, so that nothing
keeps running in part. Reconciles, watches, sources and runnables heal by themselves and never fail.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from quintant.client.fence import Fence, write_query
from quintant.client.rest import Rest
from quintant.client.retry import RetryObserver, with_retries
from quintant.client.token_bucket import TokenBucket
from quintant.client.transport import Transport
from quintant.core.clock import monotonic
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.staleness import Staleness, sampling_seconds
from quintant.runtime.controller.async_functions import function_name
from quintant.runtime.controller.blocking_keys import RunningReconcile
from quintant.runtime.controller.controller import Controller
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.controller.ownership import KeyOwnerships
from quintant.runtime.controller.reconcile import ControllerServices
from quintant.runtime.events.recorder import Recorder
from quintant.runtime.leader.elector import Elector, replica_identity
from quintant.runtime.leader.lease import LEASE_SECONDS, RENEW_SECONDS, Election
from quintant.runtime.manager.declarations import Runnable
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.health import HealthChecks
from quintant.runtime.manager.loop_monitor import LoopMonitor, SchedulerWait
from quintant.runtime.manager.probes import BoundPage, ProbeServer
from quintant.runtime.manager.runnables import Runnables
from quintant.runtime.manager.undecodable_objects import UndecodableObjects
from quintant.runtime.manager.watchdog import Watchdog
from quintant.runtime.observe import logs
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.observe.tracing import TracedTransport
from quintant.runtime.reconcile.blocking_calls import BlockingCalls
from quintant.runtime.reconcile.status_writer import StatusWriter
from quintant.runtime.settings import Settings
from quintant.runtime.source.cache_sync import CacheSync
from quintant.runtime.webhook.declaration import WebhookDeclarations

if TYPE_CHECKING:
    from quintant.runtime.controller.selected_work import SelectedWork
    from quintant.runtime.shard.coordinator import Coordinator
    from quintant.runtime.shard.layout import Shards
    from quintant.runtime.shard.process import ShardedProcess
    from quintant.runtime.webhook.server import WebhookServer

log: Final = logs.get_logger()

WRITE_SECONDS = LEASE_SECONDS - RENEW_SECONDS
"""What a write of a sharded member may take: it ends before another may claim what is ours."""
LEAVE_SECONDS = 5.0
"""What a sharded process that stops may take to release its ranges, once nothing is under way."""


class Engine:
    """One run of a manager."""

    def __init__(
        self,
        settings: Settings,
        declarations: Sequence[Declaration[Any]],
        runnables: Sequence[Runnable],
        webhooks: WebhookDeclarations,
        environment: Environment,
    ) -> None:
        self.settings = settings
        self.environment = environment
        self.metrics: Metrics = Metrics()
        self.health: HealthChecks = HealthChecks()
        self.started: Final = asyncio.Event()
        """Set when the caches are complete and every controller may work."""
        random, clock = environment.random, environment.clock
        counts = self.metrics.rest("kubernetes")
        shards = settings.shards
        self._shards = self._new_shards(shards, declarations) if shards is not None else None
        if self._shards is not None:
            self.metrics.add_collector(self._shards.metrics)
        elects = settings.leader_elect and self._shards is None
        self.elector: Elector | None = self._new_elector() if elects else None
        rate, burst = settings.rate, settings.burst
        self._bucket = TokenBucket(rate, burst) if rate is not None else None
        limit = self.elector.election.write_timeout if self.elector is not None else None
        if self._shards is not None:
            limit = WRITE_SECONDS
        query = write_query(limit) if limit is not None else {}
        self._rest = rest = Rest(self._retrying_transport(counts), counts, limit, write_query=query)
        """Without a fence: for what every replica asks and reports."""
        self._selected = self._new_selected(rest, declarations) if settings.selector else None
        """Where namespaces are selected by label."""
        self.caches: Caches = Caches(
            rest,
            random,
            namespaces=settings.namespaces,
            metrics=self.metrics,
            timers=settings.watch,
            selected=self._selected.namespaces if self._selected is not None else None,
            partition=self._shards.owned if self._shards is not None else None,
        )
        fence = self._fence()
        fenced = replace(rest, fence=fence) if fence is not None else rest
        self.client: Client = Client(fenced, self.caches, settings.name, random=random, clock=clock)
        self.caches.managers.add(settings.name)
        self.recorder: Recorder = Recorder(
            rest,
            settings.name,
            clock=clock,
            random=random,
            metrics=self.metrics,
            instance=replica_identity(random),
        )
        self.staleness: Staleness = Staleness(rest, environment.boottime, random)
        self._sampling = sampling_seconds(
            settings.staleness, (declared.fresh for declared in declarations)
        )
        """How often the server is asked how far it is; None: never."""
        statuses = StatusWriter(self.client, random)
        self._blocking = BlockingCalls(settings.threads)
        services = ControllerServices(
            self.caches,
            self.client,
            clock,
            random,
            self.metrics,
            self.recorder,
            statuses,
            self._blocking,
            self.staleness,
            environment.tracer,
            self.elector.seconds_to_doubt if self.elector is not None else None,
            self._ownerships(),
        )
        self._runnables, self._kept = runnables, Runnables(self.client, random, self.metrics)
        self.controllers: list[Controller[Any]] = [
            Controller(declared, services) for declared in declarations
        ]
        if self._selected is not None:
            self._selected.serve(self.controllers)
        if self._sampling is not None:
            for controller in self.controllers:
                self.metrics.add_staleness(controller.name, controller.views)
        self.coordinator: Coordinator | None = (
            self._shards.coordinate(self.controllers, self.caches, self._bucket)
            if self._shards is not None
            else None
        )
        self.monitor: LoopMonitor = LoopMonitor(self._reconcile_of)
        self.watchdog: Watchdog = Watchdog(
            self.metrics, self.monitor.beat, SchedulerWait(), self._blocked_by
        )
        self.json_pages: dict[str, BoundPage] = {}
        """What the program shows beside its metrics, by word."""
        self.webhooks: WebhookServer | None = self._webhook_server(webhooks) if webhooks else None
        """Its `reviews` answer in process; its port opens only in an environment that listens."""
        self._crashed, self._abandoned = False, False

    async def run(self) -> None:
        """Work until cancelled, then stop in order; a second cancellation stops at once."""
        async with AsyncExitStack() as servers, asyncio.TaskGroup() as group:
            await self._open(servers)
            tasks = self._start(group)
            try:
                await asyncio.Future()
            finally:
                try:
                    if not self._crashed:
                        await self._stop(tasks)
                finally:
                    self._blocking.abandon()

    def abandon(self) -> None:
        """Make the coming cancellation a crash: nothing is drained, released or flushed."""
        self._crashed = self._abandoned = True

    @property
    def idle(self) -> bool:
        """Whether no key is ready, and no key or call under way."""
        return all(controller.idle for controller in self.controllers)

    async def _open(self, servers: AsyncExitStack) -> None:
        settings = self.settings
        if not self.environment.listen:
            return
        probes = self._probe_server()
        if (child := self.environment.child) is not None:
            await servers.enter_async_context(probes.serve_on(child.listening))
        else:
            await servers.enter_async_context(probes.serve(settings.probes, settings.metrics))
        servers.enter_context(self.monitor.watch())
        if self.webhooks is not None:
            await servers.enter_async_context(self.webhooks.serve(settings.webhook))

    def _probe_server(self) -> ProbeServer:
        probes, settings = ProbeServer(self.health, self.metrics, self.json_pages), self.settings
        if not (settings.metrics_auth or settings.metrics_certificates):
            return probes
        # Loaded by those whose metrics are not for everybody.
        from quintant.runtime.observe.access import EndpointAccess
        from quintant.runtime.observe.debug_pages import DebugPages
        from quintant.runtime.webhook.certs import METRICS, CertificateWatcher, MountedCertificates

        if settings.metrics_certificates:
            source = MountedCertificates.mounted(Path(settings.metrics_certificates))
            probes.certificates = CertificateWatcher(source, self.metrics, METRICS)
        if settings.metrics_auth:
            probes.access = EndpointAccess(self._rest)
        if settings.debug:
            queues = {each.name: each.queue for each in self.controllers}
            probes.debug = DebugPages(queues, self.caches)
        return probes

    def _start(self, group: asyncio.TaskGroup) -> _Tasks:
        def spawn(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
            return group.create_task(self._watched(work))

        self._declare_checks()
        for informer in self.caches:
            spawn(informer.run())
        if self._selected is not None:
            spawn(self._selected.namespaces.run())
        if self.environment.listen:
            spawn(self.watchdog.run())
        if self._sampling is not None:
            spawn(self.staleness.sample(self._sampling))
        tasks = _Tasks(spawn(self.recorder.run()))
        if self.elector is not None:
            tasks.elector = spawn(self.elector.run())
        if self.coordinator is not None:
            tasks.elector = spawn(self.coordinator.run())
        for runnable in self._runnables:
            task = spawn(self._run(runnable))
            if runnable.leader:
                tasks.leading.append(task)
        tasks.controllers = spawn(self._run_controllers())
        return tasks

    async def _run_controllers(self) -> None:
        await CacheSync(self.caches, self.settings.sync_timeout).wait()
        self.started.set()
        if self.coordinator is not None:
            self.coordinator.set_ready()
        await self._elected()
        UndecodableObjects(self.recorder).follow(self.caches)
        log.info("started", manager=self.settings.name, controllers=len(self.controllers))
        async with asyncio.TaskGroup() as group:
            for controller in self.controllers:
                group.create_task(controller.run(self.settings.resync, self._grace))

    def _grace(self) -> float:
        """Seconds for what sources have under way, also when the lease is lost."""
        return 0.0 if self._abandoned else self.settings.grace

    async def _run(self, runnable: Runnable) -> None:
        if runnable.leader and self.coordinator is not None:
            await self._run_on_leader(runnable)
            return
        if runnable.leader:
            await self._elected()
        await self._kept.keep(runnable)

    async def _run_on_leader(self, runnable: Runnable) -> None:
        from quintant.runtime.shard.process import run_on_leader

        assert self._shards is not None, "whoever coordinates has shards"
        name = function_name(runnable.run)
        await run_on_leader(self._shards.owned, name, partial(self._kept.keep, runnable))

    async def _elected(self) -> None:
        if self.elector is not None:
            await self.elector.wait_elected()

    async def _stop(self, tasks: _Tasks) -> None:
        self.health.stopping = True
        log.info("stopping", manager=self.settings.name)
        if self.coordinator is not None:
            self.coordinator.set_leaving()
        try:
            async with asyncio.timeout(self.settings.grace):
                await asyncio.gather(*(controller.stop() for controller in self.controllers))
        except TimeoutError:
            log.warning("stopped with reconciles under way", after=self.settings.grace)
        self._blocking.abandon()
        await _cancel(tasks.controllers, *tasks.leading)
        if self.coordinator is not None:
            await self._leave(self.coordinator, tasks)
        elif self.elector is not None and tasks.elector is not None:
            await _cancel(tasks.elector)
            await self.elector.release()
        await self.recorder.flush()

    async def _leave(self, coordinator: Coordinator, tasks: _Tasks) -> None:
        """Give the ranges that are left; writes without an answer have their time to end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(WRITE_SECONDS + LEAVE_SECONDS):
                await coordinator.wait_released()
        await _cancel(tasks.elector)
        await coordinator.end()

    def _fence(self) -> Fence | None:
        if self._shards is not None:
            return self._shards.owned.fence
        fence = self.elector.fence if self.elector is not None else None
        return fence if self._selected is None else self._selected.fence(fence)

    def _ownerships(self) -> KeyOwnerships | None:
        if self._shards is not None:
            return self._shards.owned
        return self._selected

    def _new_selected(self, rest: Rest, declarations: Sequence[Declaration[Any]]) -> SelectedWork:
        # Loaded by managers whose namespaces are selected.
        from quintant.runtime.controller.selected_work import SelectedWork

        settings = self.settings
        return SelectedWork.made(
            rest,
            settings.selector,
            declarations,
            random=self.environment.random,
            metrics=self.metrics,
            timers=settings.watch,
        )

    def _new_shards(
        self, shards: Shards, declarations: Sequence[Declaration[Any]]
    ) -> ShardedProcess:
        # Loaded by managers that are sharded.
        from quintant.runtime.shard.process import GroupSettings, ShardedProcess

        settings = self.settings
        namespace = settings.lease_namespace or self.environment.namespace
        group = GroupSettings(settings.name, namespace, shards.ranges, settings.grace)
        return ShardedProcess(group, declarations, self.environment)

    async def _watched(self, work: Awaitable[Any]) -> None:
        try:
            await work
        except Exception:
            # Sources may take a while yet, and no client should rely on this process meanwhile.
            self._crashed = self.health.stopping = True
            raise

    def _retrying_transport(self, observer: RetryObserver) -> Transport:
        transport, random = self.environment.transport, self.environment.random
        if self._shards is not None:
            transport = self._shards.transport
        if (tracer := self.environment.tracer) is not None:
            transport = TracedTransport(transport, tracer)
        return with_retries(transport, random, bucket=self._bucket, observer=observer)

    def _webhook_server(self, webhooks: WebhookDeclarations) -> WebhookServer:
        # Loaded by those who have webhooks.
        from quintant.runtime.webhook.binding import build_webhook_server

        return build_webhook_server(
            webhooks,
            self.settings,
            client=self.client,
            metrics=self.metrics,
            clock=self.environment.clock,
            namespace=self.environment.namespace,
        )

    def _new_elector(self) -> Elector:
        environment, settings = self.environment, self.settings
        election = Election(
            settings.name,
            settings.lease_namespace or environment.namespace,
            replica_identity(environment.random),
            settings.lease.duration,
            settings.lease.renew,
            settings.lease.retry,
        )
        return Elector(
            Rest(environment.transport),
            election,
            clock=environment.clock,
            random=environment.random,
            metrics=self.metrics.leader(settings.name),
            boottime=environment.boottime,
        )

    def _declare_checks(self) -> None:
        self.health.add_watchdog(self.watchdog)
        for informer in self.caches:
            self.health.add_informer(informer)
        if self.elector is not None:
            self.health.add_elector(self.elector)
        if self.coordinator is not None:
            self.health.add_readiness_note("shards", self.coordinator.trouble)
        self.health.add_readiness_note("hot-loops", self._hot_loops)
        if self._sampling is not None:
            self.health.add_readiness_note("staleness", self._behind)
        if self._runnables:
            self.health.add_readiness_note("runnables", self._kept.failed)
        if self.webhooks is not None and self.environment.listen:
            self.health.add_readiness_check("webhooks", self.webhooks.certificates.trouble)

    def _behind(self) -> str:
        kinds: dict[str, float] = {}
        for controller in self.controllers:
            kinds |= controller.views.kinds
        return ", ".join(f"{kind} {behind:.0f} s" for kind, behind in sorted(kinds.items()))

    def _hot_loops(self) -> str:
        now = monotonic()
        found = (
            (c.name, key, n) for c in self.controllers for key, n in c.hot_loops.hot(now).items()
        )
        return "; ".join(f"{name} {key} was reconciled {n} times" for name, key, n in found)

    def _reconcile_of(self, task: asyncio.Task[Any]) -> RunningReconcile | None:
        return next(filter(None, (c.reconcile_of(task) for c in self.controllers)), None)

    def _blocked_by(self, reconcile: RunningReconcile) -> None:
        for controller in self.controllers:
            if controller.name == reconcile.controller:
                controller.blocked_loop(reconcile.key)


@dataclass(slots=True)
class _Tasks:
    """The tasks that are stopped one by one; all others end with the group."""

    recorder: asyncio.Task[Any]
    elector: asyncio.Task[Any] | None = None
    controllers: asyncio.Task[Any] | None = None
    leading: list[asyncio.Task[Any]] = field(default_factory=list)


async def _cancel(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks and wait for them."""
    going = [task for task in tasks if task is not None]
    for task in going:
        task.cancel()
    if going:
        await asyncio.wait(going)
