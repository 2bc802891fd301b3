"""python -m benchmarks.console_viewers ADDRESS VIEWERS TOPIC…: streams that are read and forgotten.

Prints a line when every stream has its first bytes, then reads until killed.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

BLOCK = 1 << 18


async def main(address: str, viewers: int, topics: list[str]) -> None:
    """Read until killed."""
    host, port = address.rsplit(":", 1)
    query = "&".join(f"topic={topic}" for topic in topics)
    line = f"GET /api/stream?{query} HTTP/1.1\r\nHost: {address}\r\n\r\n".encode()
    begun = [asyncio.Event() for _ in range(viewers)]
    async with asyncio.TaskGroup() as group:
        for each in begun:
            group.create_task(_read(host, int(port), line, each))
        for each in begun:
            await each.wait()
        print("ready", flush=True)


async def _read(host: str, port: int, line: bytes, begun: asyncio.Event) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(line)
    while await reader.read(BLOCK):
        begun.set()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
