"""A manager's declarations at work: bound to an environment, started and stopped in order.

    start: servers, webhooks, caches, runnables, leader election, controllers
    stop:  not ready, controllers (reconciles end), leader's runnables, lease, events,
           and then everything else at once; servers last

Everything runs in one task group: a task that fails takes the process down, so that nothing
keeps running in part. Reconciles, watches, sources and runnables heal by themselves and never fail.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from quintant.client.rest import Rest
from quintant.client.retry import RetryObserver, with_retries
from quintant.client.token_bucket import TokenBucket
from quintant.client.transport import Transport
from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.runtime.clusters.bound_cluster import BoundCluster
from quintant.runtime.clusters.process_parts import ProcessParts
from quintant.runtime.controller.async_functions import function_name
from quintant.runtime.controller.blocking_keys import RunningReconcile
from quintant.runtime.controller.controller import Controller
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.events.undecodable_objects import UndecodableObjects
from quintant.runtime.leader.elector import Elector, replica_identity
from quintant.runtime.manager.coordination import coordinate
from quintant.runtime.manager.coordination.replica import cancelled
from quintant.runtime.manager.declarations import Runnable
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.health import HealthChecks
from quintant.runtime.manager.loop_monitor import LoopMonitor, SchedulerWait
from quintant.runtime.manager.probes import BoundPage, ProbeServer
from quintant.runtime.manager.runnables import Runnables
from quintant.runtime.manager.watchdog import Watchdog
from quintant.runtime.observe import logs
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.observe.tracing import TracedTransport
from quintant.runtime.reconcile.blocking_calls import BlockingCalls
from quintant.runtime.settings import Settings
from quintant.runtime.source.cache_sync import CacheSync
from quintant.runtime.webhook.declaration import WebhookDeclarations

if TYPE_CHECKING:
    from quintant.client.config.config import Config
    from quintant.runtime.clusters.clusters import Clusters
    from quintant.runtime.clusters.provider import ClusterProvider
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
        providers: Sequence[ClusterProvider] = (),
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
        self._blocking = BlockingCalls(settings.threads)
        process = self._process_parts()
        self.clusters: Clusters | None = (
            self._new_clusters(process, declarations, providers) if providers else None
        )
        """Those it works in beside home; None where there is but one."""
        self._home = home = self._bound_home(process, declarations)
        self.caches: Final = home.caches
        self.client: Final = home.client
        self.recorder: Final = home.recorder
        self.controllers: list[Controller[Any]] = home.controllers
        """Those at home."""
        self._runnables, self._kept = runnables, Runnables(self.client, random, self.metrics)
        self._coordination.bind(self.controllers, self.caches, self._bucket)
        self.monitor: LoopMonitor = LoopMonitor(self._reconcile_of)
        self.watchdog: Watchdog = Watchdog(
            self.metrics, self.monitor.beat, SchedulerWait(), self._blocked_by
        )
        self.json_pages: dict[str, BoundPage] = {**self._coordination.json_pages}
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
        return all(controller.idle for controller in self._all_controllers())

    def _all_controllers(self) -> Iterator[Controller[Any]]:
        """Those of every cluster."""
        yield from self.controllers
        if self.clusters is not None:
            yield from self.clusters.controllers()

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
        home = self._home
        if home.selected is not None:
            spawn(home.selected.namespaces.run())
        if self.environment.listen:
            spawn(self.watchdog.run())
        if home.sampling is not None:
            spawn(home.staleness.sample(home.sampling))
        if self.clusters is not None:
            spawn(self.clusters.run(home, self._grace))
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
        if self.clusters is not None:
            self.clusters.stopping = True
        try:
            async with asyncio.timeout(self.settings.grace):
                await asyncio.gather(*(each.stop() for each in self._all_controllers()))
        except TimeoutError:
            log.warning("stopped with reconciles under way", after=self.settings.grace)
        self._blocking.abandon()
        await cancelled(tasks.controllers, *tasks.leading)
        await self._coordination.leave(tasks.coordination)
        others = self.clusters.recorders() if self.clusters is not None else ()
        await asyncio.gather(*(recorder.flush() for recorder in (self.recorder, *others)))

    def _unfenced_rest(self) -> Rest:
        """For what every replica asks and reports."""
        counts, coordination = self.metrics.rest("kubernetes"), self._coordination
        transport = self._retrying_transport(counts)
        limit, query = coordination.write_seconds, coordination.write_query
        return Rest(transport, counts, limit, write_query=query)

    def _process_parts(self) -> ProcessParts:
        environment, coordination = self.environment, self._coordination
        return ProcessParts(
            self.settings,
            environment.clock,
            environment.random,
            environment.boottime,
            environment.tracer,
            self._blocking,
            replica_identity(environment.random),
            coordination.wait_elected,
            coordination.fence,
            coordination.write_seconds,
            coordination.lease_left,
            coordination.owned,
            coordination.ownerships,
        )

    def _bound_home(
        self, process: ProcessParts, declarations: Sequence[Declaration[Any]]
    ) -> BoundCluster:
        clusters = self.clusters
        return BoundCluster(
            self._rest,
            process,
            [_at_home(declared) for declared in declarations],
            self.metrics,
            fence=process.fence,
            routes=clusters.routes if clusters is not None else None,
            client_of=clusters.client_of if clusters is not None else None,
        )

    def _new_clusters(
        self,
        process: ProcessParts,
        declarations: Sequence[Declaration[Any]],
        providers: Sequence[ClusterProvider],
    ) -> Clusters:
        # Loaded by managers that work in several clusters.
        from quintant.runtime.clusters.cluster_collector import ClusterCollector
        from quintant.runtime.clusters.clusters import Clusters

        others = [declared for declared in declarations if declared.others]
        connect = self.environment.connect or self._connect
        clusters = Clusters(process, others, providers, connect, self.metrics)
        self.metrics.add_collector(ClusterCollector(clusters.conditions))
        return clusters

    def _connect(self, _: str, config: Config) -> Transport:
        from quintant.client.http.transport import HttpTransport

        return HttpTransport(config)

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
        if self._home.sampling is not None:
            self.health.add_readiness_note("staleness", self._behind)
        if self.clusters is not None:
            self.health.add_readiness_note("clusters", self.clusters.note)
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
            (c.name, key, n)
            for c in self._all_controllers()
            for key, n in c.hot_loops.hot(now).items()
        )
        return "; ".join(f"{name} {key} was reconciled {n} times" for name, key, n in found)

    def _reconcile_of(self, task: asyncio.Task[Any]) -> RunningReconcile | None:
        return next(filter(None, (c.reconcile_of(task) for c in self._all_controllers())), None)

    def _blocked_by(self, reconcile: RunningReconcile) -> None:
        for controller in self._all_controllers():
            if controller.works_on(reconcile):
                controller.blocked_loop(reconcile.key)


def _at_home(declared: Declaration[Any]) -> Declaration[Any]:
    """What of a declaration runs at home: of one that works elsewhere only, its sources."""
    if declared.home:
        return declared
    return Declaration(
        declared.name, None, _drop, sources=declared.sources, keeps=declared.keeps, resync=False
    )


async def _drop(request: Request, _: Any) -> None:
    log.error("dropped a key: its controller does not work at home", object=str(request))


@dataclass(slots=True)
class _Tasks:
    """The tasks that are stopped one by one; all others end with the group."""

    recorder: asyncio.Task[Any]
    coordination: asyncio.Task[Any]
    controllers: asyncio.Task[Any] | None = None
    leading: list[asyncio.Task[Any]] = field(default_factory=list)
