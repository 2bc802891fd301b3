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
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

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
from quintant.runtime.controller.reconcile import ControllerServices
from quintant.runtime.events.recorder import Recorder
from quintant.runtime.leader.elector import Elector, replica_identity
from quintant.runtime.manager.coordination import coordinate
from quintant.runtime.manager.coordination.replica import cancelled
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
    from quintant.runtime.webhook.server import WebhookServer

log: Final = logs.get_logger()


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
        self.settings: Final = settings
        self.environment: Final = environment
        self.metrics: Metrics = Metrics()
        self.health: HealthChecks = HealthChecks()
        self.started: Final = asyncio.Event()
        """Set when the caches are complete and every controller may work."""
        random = environment.random
        rate, burst = settings.rate, settings.burst
        self._bucket = TokenBucket(rate, burst) if rate is not None else None
        self._coordination = coordinate(settings, declarations, environment, self.metrics)
        self._rest = self._unfenced_rest()
        self._selected = self._new_selected(declarations) if settings.selector else None
        """Where namespaces are selected by label."""
        self.caches: Final = self._new_caches()
        self.client: Final = self._new_client()
        self.recorder: Final = self._new_recorder()
        self.staleness: Staleness = Staleness(self._rest, environment.boottime, random)
        self._sampling = sampling_seconds(
            settings.staleness, (declared.fresh for declared in declarations)
        )
        """How often the server is asked how far it is; None: never."""
        self._blocking = BlockingCalls(settings.threads)
        self._runnables, self._kept = runnables, Runnables(self.client, random, self.metrics)
        services = self._services()
        self.controllers: list[Controller[Any]] = [
            Controller(declared, services) for declared in declarations
        ]
        self._coordination.bind(self.controllers, self.caches, self._bucket)
        if self._selected is not None:
            self._selected.serve(self.controllers)
        if self._sampling is not None:
            for controller in self.controllers:
                self.metrics.add_staleness(controller.name, controller.views)
        self.monitor: LoopMonitor = LoopMonitor(self._reconcile_of)
        self.watchdog: Watchdog = Watchdog(
            self.metrics, self.monitor.beat, SchedulerWait(), self._blocked_by
        )
        self.json_pages: dict[str, BoundPage] = {}
        """What the program shows beside its metrics, by word."""
        self.webhooks: WebhookServer | None = self._webhook_server(webhooks) if webhooks else None
        """Its `reviews` answer in process; its port opens only in an environment that listens."""
        self._crashed, self._abandoned = False, False

    @property
    def elector(self) -> Elector | None:
        """Who competes for the lease, in a manager that elects a leader."""
        return self._coordination.elector

    @property
    def coordinator(self) -> Coordinator | None:
        """Who keeps this process in its group, in a sharded manager."""
        return self._coordination.coordinator

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
        tasks = _Tasks(spawn(self.recorder.run()), spawn(self._coordination.run()))
        for runnable in self._runnables:
            task = spawn(self._run(runnable))
            if runnable.leader:
                tasks.leading.append(task)
        tasks.controllers = spawn(self._run_controllers())
        return tasks

    async def _run_controllers(self) -> None:
        await CacheSync(self.caches, self.settings.sync_timeout).wait()
        self.started.set()
        self._coordination.set_ready()
        await self._coordination.wait_elected()
        UndecodableObjects(self.recorder).follow(self.caches)
        log.info("started", manager=self.settings.name, controllers=len(self.controllers))
        async with asyncio.TaskGroup() as group:
            for controller in self.controllers:
                group.create_task(controller.run(self.settings.resync, self._grace))

    def _grace(self) -> float:
        """Seconds for what sources have under way, also when the lease is lost."""
        return 0.0 if self._abandoned else self.settings.grace

    async def _run(self, runnable: Runnable) -> None:
        keep = partial(self._kept.keep, runnable)
        if runnable.leader:
            await self._coordination.run_on_leader(function_name(runnable.run), keep)
        else:
            await keep()

    async def _stop(self, tasks: _Tasks) -> None:
        self.health.stopping = True
        log.info("stopping", manager=self.settings.name)
        self._coordination.set_leaving()
        try:
            async with asyncio.timeout(self.settings.grace):
                await asyncio.gather(*(controller.stop() for controller in self.controllers))
        except TimeoutError:
            log.warning("stopped with reconciles under way", after=self.settings.grace)
        self._blocking.abandon()
        await cancelled(tasks.controllers, *tasks.leading)
        await self._coordination.leave(tasks.coordination)
        await self.recorder.flush()

    def _unfenced_rest(self) -> Rest:
        """For what every replica asks and reports."""
        counts, coordination = self.metrics.rest("kubernetes"), self._coordination
        transport = self._retrying_transport(counts)
        limit, query = coordination.write_seconds, coordination.write_query
        return Rest(transport, counts, limit, write_query=query)

    def _new_caches(self) -> Caches:
        settings, selected = self.settings, self._selected
        return Caches(
            self._rest,
            self.environment.random,
            namespaces=settings.namespaces,
            metrics=self.metrics,
            timers=settings.watch,
            selected=selected.namespaces if selected is not None else None,
            partition=self._coordination.owned,
        )

    def _new_client(self) -> Client:
        name, environment, fence = self.settings.name, self.environment, self._coordination.fence
        if self._selected is not None:
            fence = self._selected.fence(fence)
        rest = replace(self._rest, fence=fence) if fence is not None else self._rest
        self.caches.managers.add(name)
        random, clock = environment.random, environment.clock
        return Client(rest, self.caches, name, random=random, clock=clock)

    def _new_recorder(self) -> Recorder:
        environment = self.environment
        return Recorder(
            self._rest,
            self.settings.name,
            clock=environment.clock,
            random=environment.random,
            metrics=self.metrics,
            instance=replica_identity(environment.random),
        )

    def _services(self) -> ControllerServices:
        environment, coordination = self.environment, self._coordination
        return ControllerServices(
            self.caches,
            self.client,
            environment.clock,
            environment.random,
            self.metrics,
            self.recorder,
            StatusWriter(self.client, environment.random),
            self._blocking,
            self.staleness,
            environment.tracer,
            coordination.lease_left,
            self._selected if self._selected is not None else coordination.ownerships,
        )

    def _new_selected(self, declarations: Sequence[Declaration[Any]]) -> SelectedWork:
        # Loaded by managers whose namespaces are selected.
        from quintant.runtime.controller.selected_work import SelectedWork

        settings = self.settings
        return SelectedWork.made(
            self._rest,
            settings.selector,
            declarations,
            random=self.environment.random,
            metrics=self.metrics,
            timers=settings.watch,
        )

    async def _watched(self, work: Awaitable[Any]) -> None:
        try:
            await work
        except Exception:
            # Sources may take a while yet, and no client should rely on this process meanwhile.
            self._crashed = self.health.stopping = True
            raise

    def _retrying_transport(self, observer: RetryObserver) -> Transport:
        transport, random = self._coordination.transport, self.environment.random
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

    def _declare_checks(self) -> None:
        self.health.add_watchdog(self.watchdog)
        for informer in self.caches:
            self.health.add_informer(informer)
        self._coordination.declare_checks(self.health)
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
    coordination: asyncio.Task[Any]
    controllers: asyncio.Task[Any] | None = None
    leading: list[asyncio.Task[Any]] = field(default_factory=list)
