"""The pytest fixtures of the kit; put `pytest_plugins = ["quintant.testing.plugin"]` in conftest.

`cluster` is an in-process cluster, new for every test. Async tests run under virtual time, unless
marked `@pytest.mark.realtime`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

import pytest
import pytest_asyncio

from quintant.testing.cluster import InProcessCluster
from quintant.testing.loop import VirtualLoop


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "realtime: run on the ordinary event loop, in real time")


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.get_closest_marker("realtime") is not None:
        return {"real": asyncio.new_event_loop}
    return {"virtual": VirtualLoop}


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[InProcessCluster]:
    """A cluster in this process; managers that still run at the end are stopped."""
    fresh = InProcessCluster()
    yield fresh
    await fresh.close()
