"""The console of the demo: served beside the cluster, and visited once everything runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from quintant.cli.look.console import operator_systems
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
    options = ConsoleOptions(operator_systems(), ANY_PORT, config.server)
    try:
        async with run_console(options, transport, SystemClock(), Random()) as address:
            yield f"http://{address}/"
    finally:
        await transport.close()


async def visit_console(url: str, systems: Sequence[str]) -> str:
    """Fetch the overview, an object of each system and the map; a line that says so.

    ConfigError if the console does not show what runs.
    """
    transport = HttpTransport(Config(server=url.removesuffix("/")))
    try:
        return await visit_systems(transport, systems)
    finally:
        await transport.close()


async def visit_systems(transport: Transport, systems: Sequence[str]) -> str:
    """The same, by a transport to a console."""
    panels = {each.panel.name for each in operator_systems()}
    shown = [name for name in systems if name in panels]
    for name in shown:
        await _rows(transport, "overview", f"system/{name}")
        row = next(iter((await _rows(transport, f"panel/{name}")).values()))
        await _rows(transport, str(row["link"]).replace("/objects/", "object/", 1))
    if "shifu" in shown:
        await _rows(transport, EDGEMAP)
    line = f"the console shows {', '.join(shown) or 'no system'}, and an object of each"
    others = ", ".join(name for name in systems if name not in panels)
    return f"{line}; without a panel of its own: {others}" if others else line


async def _rows(transport: Transport, topic: str, key: str = "") -> dict[str, Any]:
    """The rows of a topic, once there are some, or one with a key."""
    for _ in range(TRIES):
        answer = await transport.request(ApiRequest("GET", f"/api/topics/{topic}"))
        rows = msgspec.json.decode(answer.body)["rows"] if answer.status == 200 else {}
        if rows and (not key or key in rows):
            return dict(rows)
        await asyncio.sleep(WAIT_SECONDS)
    raise ConfigError(
        f"the console shows nothing of {key or topic}",
        because=f"its last answer was {answer.status}",
        hint="quintant console, and its pages",
    )
