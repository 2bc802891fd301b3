"""The console as a whole: watches, boards, and a server of what they show.

    async with run_console(options, environment) as address: ...

Everything ends with the context, watches and streams included.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, Transport
from quintant.console.boards.changes import ChangesMaker
from quintant.console.boards.definitions import Definitions
from quintant.console.boards.edgemap import EdgeMapBoard
from quintant.console.boards.events import EventsBoard
from quintant.console.boards.nodes import NodesBoard
from quintant.console.boards.object_page import ObjectMaker
from quintant.console.boards.overview import OverviewBoard
from quintant.console.figures import FiguresReader
from quintant.console.history import ObjectHistory
from quintant.console.on_demand import OnDemandTopics
from quintant.console.publisher import Publisher
from quintant.console.server.access import (
    KubernetesAuthenticator,
    LoopbackAuthenticator,
    TokenFileAuthenticator,
    ViewerAuthenticator,
)
from quintant.console.server.pages import ConsolePages
from quintant.console.sources import Sources
from quintant.core import codec
from quintant.core.address import BindAddress
from quintant.core.clock import Clock, Random
from quintant.core.errors import ConfigError, QuintantError
from quintant.core.object import Model
from quintant.http.hosts import on_loopback
from quintant.http.request import RequestLimits
from quintant.runtime.observe.listen import listen
from quintant.runtime.observe.system_panel import SystemPanel

LIMITS = RequestLimits(head_bytes=16_384, first_seconds=10.0, idle_seconds=30.0)
"""A browser sends less and comes sooner."""
VERSION_SECONDS = 10.0
"""Until the server is asked again which version it is, while it does not say."""


class ConsoleSystem(Struct, frozen=True):
    """An operator that the console knows."""

    panel: SystemPanel
    program: str
    """The name of its pods: the label app.kubernetes.io/name."""
    readme: str = ""
    """What its conditions mean and what it does, as Markdown; empty if it says nothing."""


class ConsoleOptions(Struct, frozen=True):
    """What a console shows, and to whom."""

    systems: tuple[ConsoleSystem, ...]
    address: BindAddress
    cluster: str = ""
    """What the cluster is called: the server's address, as a rule."""
    token_file: Path | None = None
    kubernetes_auth: bool = False


class _ServerVersion(Model):
    git_version: str = ""


class Console:
    """What a cluster is like, as topics."""

    def __init__(
        self, systems: Sequence[ConsoleSystem], rest: Rest, clock: Clock, random: Random
    ) -> None:
        self.rest = rest
        self.sources: Sources = Sources(rest, clock, random)
        self.publisher: Publisher = Publisher(clock, self.sources)
        panels = [each.panel for each in systems]
        self.readmes: dict[str, str] = {
            each.panel.name: each.readme for each in systems if each.readme
        }
        self.definitions: Definitions = Definitions(
            panels, self.publisher, self.sources, self.readmes
        )
        self.events: EventsBoard = EventsBoard(self.publisher, self.sources)
        self.nodes: NodesBoard = NodesBoard(self.publisher, self.sources)
        programs = {each.panel.name: each.program for each in systems}
        self.overview: OverviewBoard = OverviewBoard(
            self.publisher, self.sources, self.definitions, programs
        )
        series = {each.name: [plot.series for plot in each.plots if plot.series] for each in panels}
        self.figures: FiguresReader = FiguresReader(rest, self.overview, programs, series)
        self.history: ObjectHistory = ObjectHistory(clock)
        self.definitions.on_kind(
            lambda resource: self.sources.subscribe(resource, self.history.record)
        )
        self.edgemap: EdgeMapBoard | None = self._make_map(panels)
        objects = ObjectMaker(
            self.publisher, self.sources, self.definitions, self.events, self.history
        )
        changes = ChangesMaker(self.publisher, self.history)
        self.topics: OnDemandTopics = OnDemandTopics(
            self.publisher, {"object": objects, "changes": changes}
        )

    def _make_map(self, panels: Sequence[SystemPanel]) -> EdgeMapBoard | None:
        for panel in panels:
            if panel.map is not None:
                board = self.definitions.boards[panel.name]
                return EdgeMapBoard(panel.map, board, self.nodes, self.publisher, self.sources)
        return None

    def pages(self, authenticator: ViewerAuthenticator) -> ConsolePages:
        """What a server answers requests with."""
        text = self.edgemap.text if self.edgemap is not None else None
        return ConsolePages(
            self.publisher, self.topics, authenticator, map_text=text, readmes=self.readmes
        )

    async def run(self, cluster: str = "") -> None:
        """Follow the cluster until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.sources.run())
                group.create_task(self.publisher.run())
                group.create_task(self._introduce(cluster))
                group.create_task(self.figures.run())
        finally:
            self.topics.close()

    async def _introduce(self, cluster: str) -> None:
        """Find out which server it is."""
        self.overview.describe(cluster, "")
        while True:
            try:
                reply = await self.rest.send(ApiRequest("GET", "/version"))
                version = codec.decode_reply(reply.body, _ServerVersion)
            except QuintantError:
                await asyncio.sleep(VERSION_SECONDS)
            else:
                self.overview.describe(cluster, version.git_version)
                return


@asynccontextmanager
async def run_console(
    options: ConsoleOptions, transport: Transport, clock: Clock, random: Random
) -> AsyncIterator[BindAddress]:
    """Follow a cluster and serve it while the context lasts; yields the address with its port.

    ConfigError if others could reach it and nothing says who they may be.
    """
    rest = Rest(transport)
    authenticator = choose_authenticator(options, rest)
    console = Console(options.systems, rest, clock, random)
    pages = console.pages(authenticator)
    async with listen(pages, options.address, limits=LIMITS, shows_only=True) as address:
        running = asyncio.ensure_future(console.run(options.cluster))
        try:
            yield address
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


def choose_authenticator(options: ConsoleOptions, rest: Rest) -> ViewerAuthenticator:
    """Who is let in, as the options say."""
    if options.kubernetes_auth:
        return KubernetesAuthenticator(rest)
    if options.token_file is not None:
        return TokenFileAuthenticator(options.token_file)
    host = options.address.host
    if host == "localhost" or on_loopback((host, 0)):
        return LoopbackAuthenticator()
    raise ConfigError(
        f"the console would show everything to everybody who reaches {options.address}",
        because="the address is not one of loopback, and nothing says who may look",
        hint="--listen 127.0.0.1:0, --token-file FILE, or --kubernetes-auth",
    )
