"""A simulated device behind a socket: it sends back what it gets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from quintant.agents.devices.http_device import MockOptions, parse
from quintant.agents.multiplex.program import run, say

PORT = 11122
PIECE_BYTES = 1024


async def serve(options: MockOptions, stopped: asyncio.Event) -> None:
    """Serve until the event is set."""
    server = await asyncio.start_server(echo, options.listen or None, options.port)
    host, port = server.sockets[0].getsockname()[:2]
    say("serve", device=options.name, url=f"tcp://{host}:{port}", simulator=True)
    await stopped.wait()
    server.close()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send back what comes, to the end."""
    with suppress(OSError):
        while piece := await reader.read(PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
    writer.close()


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    options = parse("socket", arguments, PORT)
    run(lambda stopped: serve(options, stopped), small=True)
