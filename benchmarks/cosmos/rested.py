"""A CosmosFullNode of three nodes at rest, with the operator in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.cosmos.world import FULL_NODES, OPERATOR, World, full_node, opened
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.operators.cosmos import controllers
from quintant.operators.cosmos.options import Options
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.manager import Manager

NAME = "hub0000"
SYNC_SECONDS = 0.5


@asynccontextmanager
async def rested() -> AsyncIterator[tuple[World, Engine]]:
    """A world in which nothing is left to do."""
    async with opened(3, SYNC_SECONDS) as world:
        server = world.cluster.server
        server.tokens.add(OPERATOR, admin(OPERATOR))
        manager = Manager("cosmos-operator")
        controllers(manager, Options())
        transport = InProcessTransport(server, OPERATOR)
        async with manager.running(Environment(transport)) as engine:
            await world.post(FULL_NODES, full_node(NAME))
            await world.until(lambda: NAME in world.settled)
            yield world, engine
