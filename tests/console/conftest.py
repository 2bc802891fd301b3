"""A Chromium for all tests of the page, and a scripted server for each."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
import pytest_asyncio

import patience
from testbeds.chromium import Viewer, chromium, require_chromium, viewer
from testbeds.console_rows import small_cluster
from testbeds.console_server import ConsoleServer, console_server


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"real": asyncio.new_event_loop}


@pytest.fixture(scope="session")
def installed() -> str:
    patience.refresh()
    return require_chromium(os.environ)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(installed: str) -> AsyncIterator[Any]:
    async with chromium() as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def server() -> AsyncIterator[ConsoleServer]:
    """A small cluster, scripted."""
    patience.refresh()
    async with console_server() as started:
        small_cluster(started)
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def looking(browser: Any, server: ConsoleServer) -> AsyncIterator[Viewer]:
    """Somebody who looks at it."""
    async with viewer(browser, server.url) as opened:
        yield opened
