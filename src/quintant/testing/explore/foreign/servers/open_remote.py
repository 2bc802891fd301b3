"""The server of a run that a command starts: nodes, definitions, what is prepared, and a mirror.

Controllers and a scheduler are the command's; nodes are simulated by us, and so are their pods.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport, TransportLimits
from quintant.client.transport import InProcessTransport, Transport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.simulated.component import simulator
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.clock import Random, monotonic
from quintant.runtime.manager.environment import Environment
from quintant.testing.explore.foreign.paced_loop import PacedClock, PaceOrigin
from quintant.testing.explore.foreign.scenario_file import LoadedScenario
from quintant.testing.explore.foreign.servers.command import running_server
from quintant.testing.explore.foreign.servers.mirror import Mirror
from quintant.testing.explore.foreign.servers.remote import RemoteServer
from quintant.testing.explore.foreign.steps import ScenarioUser
from quintant.testing.explore.foreign.world import NODES, prepare, settled

DELETION_SECONDS = 31.0
"""Real seconds after which a real garbage collector has heard of a new kind."""


@asynccontextmanager
async def open_remote(
    words: tuple[str, ...], scenario: LoadedScenario, origin: PaceOrigin
) -> AsyncIterator[RemoteServer]:
    """A server of one's own, with the world that every run begins with."""
    async with AsyncExitStack() as stack:
        path = await stack.enter_async_context(running_server(words, origin.pace))
        admin = await _transport(stack, path, origin)
        kinds = ApiServer(clock=PacedClock(origin))
        await ScenarioUser(kinds, InProcessTransport(kinds)).apply(scenario.definitions)
        user, began = ScenarioUser(kinds, admin), monotonic()
        await prepare(user, scenario.title, scenario.definitions)
        mirror = Mirror(kinds.catalog, admin, origin.pace)
        await stack.enter_async_context(mirror.following())
        await stack.enter_async_context(_simulated_nodes(path, origin))
        await prepare(user, scenario.title, scenario.prepared)
        await settled(mirror.store, origin.pace)
        if any(each.delete is not None for each in scenario.steps):
            await asyncio.sleep(began + DELETION_SECONDS * origin.pace - monotonic())
        yield RemoteServer(mirror, kinds, admin)


@asynccontextmanager
async def _simulated_nodes(path: Path, origin: PaceOrigin) -> AsyncIterator[None]:
    clock = PacedClock(origin)
    async with AsyncExitStack() as stack:
        transport = await _transport(stack, path, origin)
        component = simulator(Fleet(NODES), clock=clock)
        environment = Environment(transport, clock, Random(), namespace="kube-system")
        await stack.enter_async_context(component.manager.running(environment))
        yield


async def _transport(stack: AsyncExitStack, path: Path, origin: PaceOrigin) -> Transport:
    """A way in that waits as long as usual, by the clock of the machine."""
    pace = origin.pace
    limits = TransportLimits(connect=10.0 * pace, answer=60.0 * pace, head=60.0 * pace)
    transport = HttpTransport(Config.load(path), PacedClock(origin), limits=limits)
    stack.push_async_callback(transport.close)
    return transport
