"""Relays and tunnels over real sockets, in real time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest_asyncio
import uvloop

from testbeds.relays import RelayTestbed, opened


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop of the programs."""
    return {"uvloop": uvloop.new_event_loop}


@pytest_asyncio.fixture
async def testbed(tmp_path: Path) -> AsyncIterator[RelayTestbed]:
    """An empty testbed."""
    async with opened(tmp_path) as found:
        yield found
