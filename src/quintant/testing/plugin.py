"""The pytest fixtures of the kit; put `pytest_plugins = ["quintant.testing.plugin"]` in conftest.

`cluster` is an in-process cluster of every test's own. What all of them should begin with is
prepared once: override `prepare`. Async tests run under virtual time, unless marked
`@pytest.mark.realtime`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import pytest
import pytest_asyncio

from quintant.testing.cluster import InProcessCluster
from quintant.testing.loop import VirtualLoop
from quintant.testing.world import World

Prepare = Callable[[InProcessCluster], Awaitable[None]]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "realtime: run on the ordinary event loop, in real time")


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.get_closest_marker("realtime") is not None:
        return {"real": asyncio.new_event_loop}
    return {"virtual": VirtualLoop}


@pytest.fixture(scope="session")
def prepare() -> Prepare | None:
    """Override it with a function that fills a cluster: every test's begins with what it made."""
    return None


@pytest.fixture(scope="session")
def worlds() -> dict[Prepare, World]:
    """What was prepared so far in this run."""
    return {}


@pytest_asyncio.fixture
async def cluster(
    prepare: Prepare | None, worlds: dict[Prepare, World]
) -> AsyncIterator[InProcessCluster]:
    """A cluster of the test's own; managers that still run at the end are stopped."""
    if prepare is not None and prepare not in worlds:
        worlds[prepare] = await _prepared(prepare)
    fresh = InProcessCluster(world=worlds[prepare] if prepare is not None else None)
    yield fresh
    await fresh.close()


async def _prepared(prepare: Prepare) -> World:
    first = InProcessCluster()
    await prepare(first)
    await first.close()
    return first.snapshot()
