"""A client for commands that ask the cluster something, and end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.client.retry import with_retries
from quintant.runtime.cache.client import Client


@asynccontextmanager
async def open_client(config: Config, manager: str) -> AsyncIterator[Client]:
    """A client of a cluster that writes under a manager's name."""
    transport = HttpTransport(config)
    try:
        yield Client(Rest(with_retries(transport)), manager=manager)
    finally:
        await transport.close()
