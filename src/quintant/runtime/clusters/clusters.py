"""All clusters but home: engaged as providers offer them, each by itself, and left again.

    provider ──offer, withdraw──▶ Clusters ──a task per cluster──▶ EngagedCluster
                                     └── every two seconds: what each is at ──▶ log, event, metric

Of one name there is one at work at a time: what was offered before has ended, and is forgotten,
before what is offered now begins. What fails in a cluster is tried again there, after a while; it
ends neither the process nor the work in another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from quintant.client.config.config import Config
from quintant.client.transport import Transport
from quintant.core.errors import ConfigError, NotEngaged, QuintantError, leaf_errors
from quintant.core.text import one_line
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.informer import Informer
from quintant.runtime.clusters.bound_cluster import BoundCluster
from quintant.runtime.clusters.engaged import EngagedCluster
from quintant.runtime.clusters.process_parts import ProcessParts
from quintant.runtime.clusters.provider import ClusterOffer, ClusterProvider, ProviderHome
from quintant.runtime.clusters.routes import ClusterRoutes, Controllers
from quintant.runtime.clusters.states import ClusterCondition, ClusterState
from quintant.runtime.controller.controller import Controller
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.events.recorder import Recorder
from quintant.runtime.observe import logs
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.source.failures import FailureReport, begin_again

log: Final = logs.get_logger()

LOOK_SECONDS = 2.0
"""How often it is looked what each cluster is at."""
MOST_CLUSTERS = 1000
"""Each has connections, caches and tasks of its own; Secrets are made by others."""

Connect = Callable[[str, Config], Transport]
_REASONS = {
    ClusterState.READY: ("Normal", "ClusterReady"),
    ClusterState.AWAY: ("Warning", "ClusterAway"),
    ClusterState.REFUSED: ("Warning", "KubeconfigRefused"),
}


class Clusters:
    """The clusters that a manager works in beside home."""

    def __init__(
        self,
        process: ProcessParts,
        declarations: Sequence[Declaration[Any]],
        providers: Sequence[ClusterProvider],
        connect: Connect,
        metrics: Metrics,
    ) -> None:
        """`declarations` are those that work in other clusters; `metrics` are those of home."""
        self._process, self._declarations = process, declarations
        self._providers, self._connect, self._metrics = providers, connect, metrics
        self._offers: dict[str, tuple[ClusterOffer, object]] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._group: asyncio.TaskGroup | None = None
        self._home: BoundCluster | None = None
        self._informers: list[Informer[Any]] = []
        """Of the providers, at home."""
        self._grace: Callable[[], float] = lambda: 0.0
        self.stopping: bool = False
        """Set when the process ends: nothing is forgotten then."""
        self.engaged: dict[str, EngagedCluster] = {}
        """Those that are worked in, or wait until they can be."""
        self.conditions: dict[str, ClusterCondition] = {}
        """What each is at, by its name, as it was last looked."""
        self.routes: ClusterRoutes = ClusterRoutes(self._controllers_of, self._names)

    async def run(self, home_cluster: BoundCluster, grace: Callable[[], float]) -> None:
        """Follow the providers until cancelled."""
        self._home, self._grace = home_cluster, grace
        process = self._process
        timers = process.settings.watch
        home = ProviderHome(home_cluster.rest, process.random, timers, self, self._informers)
        async with asyncio.TaskGroup() as group:
            self._group = group
            for provider in self._providers:
                group.create_task(provider.run(home))
            group.create_task(self._look())

    def controllers(self) -> Iterator[Controller[Any]]:
        """Those of all clusters but home."""
        for cluster in self.engaged.values():
            yield from cluster.bound.controllers

    def recorders(self) -> list[Recorder]:
        """Those that have events to write in other clusters."""
        return [cluster.bound.recorder for cluster in self.engaged.values()]

    def client_of(self, name: str, controller: str) -> Client:
        """The client by which a controller acts in a cluster; an empty name is home.

        Its writes pass the same fence. NotEngaged if the cluster is none of ours.
        """
        bound = self._home
        if name:
            found = self.engaged.get(name)
            bound = found.bound if found is not None else None
        if bound is None:
            raise NotEngaged(name)
        return bound.client_as(controller)

    def offer(self, offer: ClusterOffer, provider: object) -> None:
        """Work in a cluster from now on, or connect to it anew."""
        name = offer.name
        known, theirs = self._offers.get(name, (None, provider))
        if theirs is not provider:
            log.error("a cluster's name is taken", cluster=name, hint="give one another name")
            return
        checked = self._checked(offer) if known is None else offer
        self._offers[name] = checked, provider
        if known is None or known.version != checked.version or known.refusal != checked.refusal:
            self._note(name, ClusterCondition(ClusterState.CONNECTING))
            self._follow(name)
            self._reconsider()

    def withdraw(self, name: str, provider: object) -> None:
        """Forget a cluster; nothing in it is deleted."""
        _, theirs = self._offers.get(name, (None, None))
        if theirs is provider:
            del self._offers[name]
            self.conditions.pop(name, None)
            self._changed[name].set()
            self._reconsider()

    def note(self) -> str:
        """Those that are not worked in, and why, for people."""
        troubles = [
            f"{each.resource.full_name} that name clusters: {each.trouble}"
            for each in self._informers
            if each.trouble
        ]
        waiting = (
            f"{name} is {each.state.value}" + (f": {each.reason}" if each.reason else "")
            for name, each in sorted(self.conditions.items())
            if each.state is not ClusterState.READY
        )
        return "; ".join((*troubles, *waiting))

    def _checked(self, offer: ClusterOffer) -> ClusterOffer:
        if len(self._offers) < MOST_CLUSTERS:
            return offer
        return replace(offer, config=None, refusal=f"there are {MOST_CLUSTERS} clusters already")

    def _follow(self, name: str) -> None:
        if name in self._changed:
            self._changed[name].set()
            return
        assert self._group is not None, "providers are run by `run`"
        self._changed[name] = asyncio.Event()
        self._group.create_task(self._keep(name))

    async def _keep(self, name: str) -> None:
        """Have what is offered under a name at work, one after the other."""
        changed = self._changed[name]
        while name in self._offers:
            changed.clear()
            async with asyncio.TaskGroup() as group:
                work = group.create_task(self._serve(self._offers[name][0]))
                await changed.wait()
                if (cluster := self.engaged.get(name)) is not None:
                    cluster.leave()
                work.cancel()
        del self._changed[name]

    async def _serve(self, offer: ClusterOffer) -> None:
        report = FailureReport()

        def failed(error: BaseException) -> bool:
            text = "the work in a cluster failed and is begun again"
            report.failed(lambda: None, text, error, cluster=offer.name)
            why = one_line("; ".join(str(each) for each in leaf_errors(error)))
            self._note(offer.name, ClusterCondition(ClusterState.AWAY, why))
            return True

        work = partial(self._engage, offer)
        await begin_again(work, failed, report.passed, self._process.random)

    async def _engage(self, offer: ClusterOffer) -> None:
        transport = self._transport(offer)
        if transport is None:
            return
        name = offer.name
        cluster = EngagedCluster(
            name, transport, self._process, self._declarations, offer.limits, self.client_of
        )
        self.engaged[name] = cluster
        self._metrics.clusters[name] = cluster.metrics
        try:
            await cluster.run(self._grace)
        finally:
            del self.engaged[name], self._metrics.clusters[name]
            try:
                if not self.stopping:
                    cluster.forget()
                    log.info("left cluster", cluster=name)
            finally:  # what forgets is the program's own, and may raise
                await cluster.close()

    def _transport(self, offer: ClusterOffer) -> Transport | None:
        """The way to a cluster; None, and the reason in its condition, if there is none."""
        refusal = offer.refusal or self._same_server(offer)
        if offer.config is not None and not refusal:
            try:
                return self._connect(offer.name, offer.config)
            except ConfigError as error:
                refusal = str(error)
        self._note(offer.name, ClusterCondition(ClusterState.REFUSED, one_line(refusal)))
        return None

    def _same_server(self, offer: ClusterOffer) -> str:
        """Why an offer is not used that leads where an earlier one does; empty if none does."""
        for name, (other, _) in self._offers.items():
            if name == offer.name:
                break
            if other.config is not None and other.config.server == _server(offer):
                return f"cluster {name} is at the same address: its objects are not for two"
        return ""

    def _reconsider(self) -> None:
        """Look again at those that are refused: what was in their way may have gone."""
        for name, condition in self.conditions.items():
            if condition.state is ClusterState.REFUSED and name in self._changed:
                self._changed[name].set()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            for name, cluster in self.engaged.items():
                if name in self._offers:
                    self._note(name, cluster.condition)

    def _note(self, name: str, condition: ClusterCondition) -> None:
        """Keep what a cluster is at, and say what has changed."""
        if name not in self._offers:
            return
        known = self.conditions.get(name)
        self.conditions[name] = condition
        if known is not None and known.state is condition.state:
            return
        state, why = condition.state, condition.reason
        if state in (ClusterState.AWAY, ClusterState.REFUSED):
            log.warning(f"cluster is {state.value}", cluster=name, why=why)
        else:
            log.info(f"cluster is {state.value}", cluster=name)
        self._tell(name, condition)

    def _tell(self, name: str, condition: ClusterCondition) -> None:
        """An event on the object at home that describes the cluster, by the process that works."""
        offer, _ = self._offers.get(name, (None, None))
        if offer is None or offer.regarding is None or self._home is None:
            return
        if condition.state not in _REASONS or not self._may_tell():
            return
        type, reason = _REASONS[condition.state]
        note = condition.reason or "its kinds are followed, and its objects are worked on"
        self._home.recorder.event(offer.regarding, type, reason, note, action="Connect")  # type: ignore[arg-type]

    def _may_tell(self) -> bool:
        try:
            if self._process.fence is not None:
                self._process.fence()
        except QuintantError:
            return False
        return True

    def _controllers_of(self, name: str) -> Controllers | None:
        cluster = self.engaged.get(name)
        return cluster.controllers if cluster is not None else None

    def _names(self) -> list[str]:
        return list(self.engaged)


def _server(offer: ClusterOffer) -> str:
    return offer.config.server if offer.config is not None else ""
