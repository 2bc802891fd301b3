"""The manager: everything a program declares, and the ways to run it.

It holds declarations only. `serve` binds them to an environment, so the same manager runs in
production (`run`), inside another program (`serve`) and in tests (`running`).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from quintant.core.clock import seconds_of
from quintant.core.errors import ConfigError, QuintantError, leaf_errors
from quintant.core.object import Object
from quintant.core.resource import is_custom_kind
from quintant.runtime.cache.client import Client
from quintant.runtime.controller.namespaces import legal_namespaces, legal_selector
from quintant.runtime.leader.lease import LeaseTimes
from quintant.runtime.manager.cache_gauges import CacheGauges
from quintant.runtime.manager.crd_check import check_crds
from quintant.runtime.manager.declarations import OperatorMetrics, ProgramDeclarations, Runnable
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment, production_environment
from quintant.runtime.manager.loops import loop_factory, stop_on_signals
from quintant.runtime.manager.part import Part
from quintant.runtime.observe import logs
from quintant.runtime.observe.alerts import Alert
from quintant.runtime.remote_calls import RemoteCalls
from quintant.runtime.settings import ManagerOptions, Settings, check_metrics
from quintant.runtime.shard.layout import Shards
from quintant.runtime.watch.timeouts import Timers
from quintant.runtime.webhook.declaration import WebhookDeclarations

if TYPE_CHECKING:  # loaded by managers that work in several clusters
    from quintant.client.config.config import Config
    from quintant.runtime.clusters.provider import ClusterProvider, DeclaredClusters
    from quintant.runtime.remote import RemoteLimits

log: Final = logs.get_logger()


class Manager(ProgramDeclarations):
    """Collects controllers, webhooks and runnables, and runs them together."""

    def __init__(
        self,
        name: str,
        *,
        namespaces: Sequence[str] = (),
        leader_elect: bool = False,
        shards: bool | Shards = False,
        lease: LeaseTimes = LeaseTimes(),
        metrics: str = "127.0.0.1:8080",
        metrics_auth: bool = False,
        metrics_certificates: str = "",
        debug: bool = False,
        probes: str = "127.0.0.1:8081",
        webhook: str = "127.0.0.1:9443",
        certificates: str = "",
        webhook_secret: str = "",
        resync: float | timedelta = timedelta(hours=10),
        grace: float | timedelta = 30.0,
        threads: int = 16,
        watch: Timers = Timers(),
        sync_timeout: float | None = 120.0,
        rate: float | None = None,
        burst: int = 10,
        staleness: float | timedelta | None = None,
    ) -> None:
        """Name the program; every other setting has a default that suits production.

        With `shards` every replica works, each on keys of its own; `Shards(ranges=256)` says how.
        `namespaces` restricts every watch, and the permissions needed, to those; empty means all.
        `sync_timeout` is how long the start waits for kinds that cannot be read, None for ever;
        `rate` holds requests to so many per second after a `burst`, and there is no limit without;
        `staleness` is how often the server is asked, per kind, how far the cache is behind it;
        With `metrics_auth` the API server is asked who may read metrics, and with `debug` /debug.
        `threads` is how many blocking calls (`ctx.in_thread`) run at once.
        """
        if not name:
            raise ConfigError(
                "a manager needs a name",
                because="its lease and role carry it",
                hint='Manager("shops")',
            )
        super().__init__()
        self.settings: Settings = Settings(
            name=name,
            namespaces=legal_namespaces(f"manager {name!r}", namespaces),
            leader_elect=leader_elect,
            lease=lease,
            shards=Shards() if shards is True else shards or None,
            metrics=metrics,
            metrics_auth=metrics_auth,
            metrics_certificates=metrics_certificates,
            debug=debug,
            probes=probes,
            webhook=webhook,
            certificates=certificates,
            webhook_secret=webhook_secret,
            resync=seconds_of(resync),
            grace=seconds_of(grace),
            threads=threads,
            watch=watch,
            sync_timeout=sync_timeout,
            rate=rate,
            burst=burst,
            staleness=None if staleness is None else seconds_of(staleness),
        )
        self.remote_calls: RemoteCalls = RemoteCalls()
        """What is called outside of the cluster; a preview makes only calls that read."""
        self.parts: dict[str, Part] = {}
        self.webhooks: WebhookDeclarations = WebhookDeclarations(name)
        self.cluster_providers: list[ClusterProvider] = []
        """Who says which clusters there are beside home."""
        self._declared_clusters: DeclaredClusters | None = None

    @property
    def name(self) -> str:
        return self.settings.name

    def namespaces(self, *, selector: str) -> None:
        """Watch only namespaces that have these labels, as they come and go: `"team=a,tier"`.

        What declarations hold to namespaces of their own stays there. It takes permission to read
        all namespaces, and each kind in those that are selected.
        """
        self.configure(selector=legal_selector(selector))

    def cluster(
        self,
        name: str,
        kubeconfig: str | Path | Config,
        *,
        context: str | None = None,
        limits: RemoteLimits | None = None,
    ) -> None:
        """Work in another cluster, too: `manager.cluster("west", "/etc/clusters/west.yaml")`.

        Keys of its objects carry the name (`ctx.request.cluster`). It has caches, queues, workers
        and connections of its own; the lease, and with it the right to write, stays at home. The
        kubeconfig is trusted: a program it names is started. `limits` are what it may cost.
        """
        if self._declared_clusters is None:
            # Loaded by managers that work in several clusters.
            from quintant.runtime.clusters.provider import DeclaredClusters

            self._declared_clusters = DeclaredClusters()
            self.clusters(self._declared_clusters)
        self._declared_clusters.add(name, kubeconfig, context, limits)

    def clusters(self, provider: ClusterProvider) -> None:
        """Work in the clusters that a provider knows, as they come and go.

        `SecretClusters(selector="…")` follows Secrets at home that hold kubeconfigs.
        """
        self.cluster_providers.append(provider)
        self.configure(uses=(*self.settings.uses, *provider.uses))

    def part(self, name: str, *, on: bool) -> Part:
        """Begin a part that runs only if it is `on`, and has a role of its own.

        Declare in it as in the manager: `manager.part("mirror", on=True).keyed("mirror")…`.
        """
        if name in self.parts:
            raise ConfigError(
                f"two parts are called {name!r}", because="their roles are called after them"
            )
        self.parts[name] = Part(name, on, self)
        return self.parts[name]

    def names(self) -> set[str]:
        parts = (part.names() for part in self.parts.values())
        return super().names().union(*parts)

    def operator(
        self,
        options: ManagerOptions | None = None,
        *,
        metrics: OperatorMetrics | None = None,
        alerts: Iterable[Alert] = (),
    ) -> None:
        """Take over what an operator brings beside its controllers: settings, series, alerts.

        `options` are configured, the collectors of `metrics` served, and those of them that are
        CacheGauges count on the leader only. Call it once per operator, before its controllers.
        """
        if options is not None:
            self.configure(**options.settings)
        collectors = tuple(metrics.collectors()) if metrics is not None else ()
        self.add_collectors(*collectors)
        self.add_alerts(*alerts)
        for gauges in collectors:
            if isinstance(gauges, CacheGauges):
                self.add(gauges.bind, leader=True)

    def kinds(self) -> list[type[Object]]:
        """Every kind that is controlled, watched or reviewed, each once, as they were declared.

        Those of parts that are off are among them: objects of theirs may exist.
        """
        found: dict[type[Object], None] = {}
        off = (part.declarations for part in self.parts.values() if not part.on)
        for declared in chain(self.declarations, *off):
            for kind in (declared.kind, *(watch.kind for watch in declared.watches)):
                if kind is not None:
                    found[kind] = None
            # Who holds a view of a kind of ours writes the kind itself.
            used = (use.kind for use in declared.uses)
            found |= dict.fromkeys(kind for kind in used if is_custom_kind(kind))
        return list(found | dict.fromkeys(self.webhooks.kinds))

    def configure(self, **changes: Any) -> None:
        """Change settings after the fact, as command line flags do."""
        self.settings = replace(self.settings, **changes)

    async def serve(self, environment: Environment | None = None) -> None:
        """Run until cancelled; cancellation stops in order, a second one at once."""
        if environment is not None:
            await self.bind(environment).run()
            return
        production = production_environment(service=self.name)
        try:
            await self.bind(production).run()
        finally:
            await production.close()

    @asynccontextmanager
    async def running(self, environment: Environment) -> AsyncIterator[Engine]:
        """Run for as long as the context lasts; enter it once every controller is at work."""
        engine = self.bind(environment)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(engine.run())
            try:
                await engine.started.wait()
                yield engine
            finally:
                task.cancel()

    def run(self) -> None:
        """Run as a program: configure logs, find the cluster, stop on SIGTERM and Ctrl-C.

        Ends the process with 0 after a clean stop, and with 1 after a failure.
        """
        logs.configure()
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            sys.exit(runner.run(self.main()))

    async def main(self, environment: Environment | None = None) -> int:
        """Serve until a signal says to stop; the exit code of the process."""
        with stop_on_signals(self.settings.grace) as stopping:
            try:
                await self.serve(environment)
            except asyncio.CancelledError:
                return 0 if stopping() else 1
            except (QuintantError, BaseExceptionGroup) as error:
                for leaf in leaf_errors(error):
                    known = isinstance(leaf, QuintantError)
                    log.error("stopped", why=str(leaf), exc_info=None if known else leaf)
                return 1
            return 0

    def bind(self, environment: Environment) -> Engine:
        """The declarations bound to an environment, ready to run."""
        self.check()
        # A program of its own may find any definitions; those of tests are its own.
        checks = [Runnable(self._check_crds, leader=False)] if environment.listen else []
        runnables = [*checks, *self.runnables]
        engine = Engine(
            self.settings,
            self.declarations,
            runnables,
            self.webhooks,
            environment,
            self.cluster_providers,
        )
        for probe, name, check in self.checks:
            engine.health.add(probe, name, check)
        for collector in self.collectors:
            engine.metrics.add_collector(collector)
        for word, page in self.json_pages.items():
            engine.json_pages[word] = partial(page, engine.client)
        return engine

    def _check_clusters(self) -> None:
        """ConfigError for what makes no sense in several clusters, or in one alone."""
        if self.cluster_providers and self.settings.shards is not None:
            raise ConfigError(
                f"manager {self.name!r} is sharded, and works in several clusters",
                because="a range is given to another member once the caches at home have what was "
                "written before; those of other clusters cannot promise it yet",
                hint="use leader_elect=True, which guards writes to all clusters",
            )
        for declared in self.declarations:
            if not (declared.home or self.cluster_providers):
                raise ConfigError(
                    f"controller {declared.name!r} works in other clusters only",
                    because="its manager has none",
                    hint='manager.cluster("west", "west.yaml"), or drop .clusters(home=False)',
                )

    async def _check_crds(self, client: Client) -> None:
        await check_crds(client, self.kinds())

    def check(self) -> None:
        """ConfigError if a declaration was begun and not ended, or settings contradict another."""
        check_metrics(self.settings)
        parts = (part.unfinished() for part in self.parts.values())
        self._check_clusters()
        if self.settings.shards is not None:
            # Loaded by managers that are sharded.
            from quintant.runtime.shard.process import check_shards

            check_shards(self.name, self.declarations)
        for name in chain(self.unfinished(), *parts):
            raise ConfigError(
                f"controller {name!r} has no reconciler",
                because="its declaration was begun and never ended",
                hint="end it: manager.controls(Kind).reconcile(function)",
            )
        if not (self.declarations or self.runnables or self.webhooks):
            raise ConfigError(
                f"manager {self.name!r} has nothing to run",
                because="it has no controller, no runnable and no webhook"
                + (", and its parts are off" if self.parts else ""),
                hint="declare a controller: manager.controls(Kind).reconcile(function)",
            )
