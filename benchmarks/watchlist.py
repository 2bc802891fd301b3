"""A server that knows pods and nothing else: one list, and one watch that begins with all of it.

Run as a process of its own; it prints its port. Everything it sends is made before it listens.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop
from aiohttp import web

from benchmarks.sample_pods import pod

BLOCK_BYTES = 64 * 1024
LIST_HEAD = (
    b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"2000000"},"items":['
)
BOOKMARK = (
    b'{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":'
    b'"2000000","annotations":{"k8s.io/initial-events-end":"true"}}}}\n'
)


class Pods:
    """The pods, as a list and as the lines of a watch."""

    def __init__(self, count: int) -> None:
        objects = [pod(number) for number in range(count)]
        self._list = b"%s%s]}" % (LIST_HEAD, b",".join(objects))
        self._lines = b"".join(b'{"type":"ADDED","object":%s}\n' % each for each in objects)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """List or watch."""
        if "watch" not in request.query:
            return web.Response(body=self._list, content_type="application/json")
        response = web.StreamResponse()
        response.content_type = "application/json"
        await response.prepare(request)
        lines = self._lines + BOOKMARK
        for start in range(0, len(lines), BLOCK_BYTES):
            await response.write(lines[start : start + BLOCK_BYTES])
        await asyncio.Event().wait()
        return response


async def main(count: int) -> None:
    """Serve until killed."""
    app = web.Application()
    app.router.add_get("/api/v1/pods", Pods(count).serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
