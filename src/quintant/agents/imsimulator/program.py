"""Serves the simulator until it is told to end; then every made cluster ends, too."""

from __future__ import annotations

import asyncio

from quintant.agents.imsimulator.api import SimulatedManager
from quintant.agents.imsimulator.options import SimulatorOptions
from quintant.agents.multiplex.program import say
from quintant.http.server import serving


async def serve(options: SimulatorOptions, stopped: asyncio.Event) -> None:
    """Serve until the event is set."""
    options.folder.mkdir(parents=True, exist_ok=True)
    async with asyncio.TaskGroup() as group:
        manager = SimulatedManager(options, group.create_task)
        async with serving(manager.handle, options.listen, options.port) as (host, port):
            say("serve", url=f"http://{host}:{port}", simulator=True)
            await stopped.wait()
        await manager.close()
