"""The console of the demo: served beside the cluster, and visited once everything runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from quintant.cli.look.console import console_systems
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest, Transport
from quintant.console.console import ConsoleOptions, run_console
from quintant.core.address import BindAddress
from quintant.core.clock import Random, SystemClock
from quintant.core.errors import ConfigError

ANY_PORT = BindAddress("127.0.0.1", 0)
TRIES, WAIT_SECONDS = 60, 0.5
"""How often a row is looked for that the console has not heard of yet."""
EDGEMAP = "edgemap"


@asynccontextmanager
async def running_console(config: Config) -> AsyncIterator[str]:
    """Serve a cluster's console while the context lasts; yields its address."""
    transport = HttpTransport(config)
    options = ConsoleOptions(console_systems(), ANY_PORT, config.server)
    try:
        async with run_console(options, transport, SystemClock(), Random()) as address:
            yield f"http://{address}/"
    finally:
        await transport.close()


async def visit_console(url: str, systems: Iterable[str]) -> str:
    """Fetch the overview, an object of each system and the map; a line that says so.

    ConfigError if the console does not show what runs.
    """
    transport = HttpTransport(Config(server=url.removesuffix("/")))
    try:
        overview = await _rows(transport, "overview")
        shown = [name for name in systems if f"system/{name}" in overview]
        for name in shown:
            row = next(iter((await _rows(transport, f"panel/{name}")).values()))
            await _rows(transport, str(row["link"]).replace("/objects/", "object/", 1))
        if "shifu" in shown:
            await _rows(transport, EDGEMAP)
        return f"the console shows {', '.join(shown) or 'no system'}, and an object of each"
    finally:
        await transport.close()


async def _rows(transport: Transport, topic: str) -> dict[str, Any]:
    """The rows of a topic, once there are some."""
    for _ in range(TRIES):
        answer = await transport.request(ApiRequest("GET", f"/api/topics/{topic}"))
        rows = msgspec.json.decode(answer.body)["rows"] if answer.status == 200 else {}
        if rows:
            return dict(rows)
        await asyncio.sleep(WAIT_SECONDS)
    raise ConfigError(
        f"the console shows nothing of {topic}",
        because=f"its last answer was {answer.status}",
        hint="quintant console, and its pages",
    )
