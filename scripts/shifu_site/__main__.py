"""python -m shifu_site DEVICES NODES: serve a site at rest until killed; prints its port."""

from __future__ import annotations

import asyncio
import sys

from quintant.http.server import serving
from shifu_site.objects import copies, first_objects
from shifu_site.server import ShowingServer


async def main(devices: int, nodes: int) -> None:
    """Serve until killed."""
    server = ShowingServer(copies(await first_objects(), devices, nodes))
    async with serving(server.answer, "127.0.0.1", 0) as (_, port):
        print(port, flush=True)
        await asyncio.Future()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
