"""The cluster of a run, with controllers and simulated nodes, and the world that all begin with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from quintant.client.transport import Transport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import RevisionStore, Snapshot, Table
from quintant.cluster.component.component import transport_as
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.cluster.instance.pki import ClusterKeys
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.paced_loop import PacedClock, PaceOrigin
from quintant.testing.explore.foreign.scenario_file import Document, LoadedScenario
from quintant.testing.explore.foreign.servers.embedded import EmbeddedServer
from quintant.testing.explore.foreign.servers.world_server import OpenServer
from quintant.testing.explore.foreign.steps import ScenarioUser, StepRefused
from quintant.testing.explore.simulation.objects import IGNORED_TABLES

NODES = 3
SETTLED_SECONDS = 1.0
"""Real seconds without a write, after which the world that runs begin with is ready."""
MOST_SECONDS = 60.0
"""Real seconds until it is, at most."""
LOOK_SECONDS = 0.05


@asynccontextmanager
async def open_cluster(
    keys: ClusterKeys, base: Snapshot | None, origin: PaceOrigin
) -> AsyncIterator[tuple[ApiServer, Transport]]:
    """A cluster with controllers and simulated nodes, and its administrator's way in."""
    store = RevisionStore.of(base) if base is not None else RevisionStore()
    config = ClusterConfig(
        BindAddress("127.0.0.1", 0),
        keys=keys,
        store=store,
        controllers=True,
        fleet=Fleet(NODES),
    )
    async with (
        run_cluster(config, PacedClock(origin)) as cluster,
        transport_as(cluster.server, admin("test")) as transport,
    ):
        yield cluster.server, transport


def open_embedded(keys: ClusterKeys, base: Snapshot, origin: PaceOrigin) -> OpenServer:
    """Starts embedded servers, each with a copy of the same world."""
    return partial(_open_embedded, keys, base, origin)


@asynccontextmanager
async def _open_embedded(
    keys: ClusterKeys, base: Snapshot, origin: PaceOrigin
) -> AsyncIterator[EmbeddedServer]:
    async with open_cluster(keys, base, origin) as (server, transport):
        yield EmbeddedServer(server, transport)


async def prepared_world(
    keys: ClusterKeys, scenario: LoadedScenario, origin: PaceOrigin
) -> Snapshot:
    """The world that every run begins with: nodes, definitions, and what is prepared."""
    async with open_cluster(keys, None, origin) as (server, transport):
        user = ScenarioUser(server, transport)
        await prepare(user, scenario.title, scenario.definitions)
        await prepare(user, scenario.title, scenario.prepared)
        await settled(server.store, origin.pace)
        return server.snapshot()


async def prepare(user: ScenarioUser, title: str, manifests: tuple[Document, ...]) -> None:
    """Apply what is there before the program starts; ConfigError if the server refuses it."""
    try:
        await user.apply(manifests)
    except StepRefused as error:
        raise ConfigError(
            f"cannot prepare {title}",
            because=str(error),
            hint="kubectl apply the same files to `quintant up`",
        ) from None


async def settled(store: RevisionStore, pace: float) -> None:
    """Wait until nobody has written for a while."""
    began = monotonic()
    last = [began]

    def changed(table: Table, change: Change) -> None:
        if table.name not in IGNORED_TABLES:
            last[0] = monotonic()

    store.subscribe(changed)
    while monotonic() - last[0] < SETTLED_SECONDS * pace:
        if monotonic() - began > MOST_SECONDS * pace:
            return
        await asyncio.sleep(LOOK_SECONDS * pace)
